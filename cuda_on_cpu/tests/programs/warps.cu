// Threads together: their numbers in three dimensions, barriers that count, the functions of warps. No program of
// coalesced groups, which clang compiles without optimization.
#include "expect.h"

constexpr unsigned all = 0xffffffff;

__global__ void number(int *out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  atomicAdd(out + block * blockDim.x * blockDim.y * blockDim.z + thread, static_cast<int>(thread + 1));
}

__global__ void count(int *out) {
  const int thread = threadIdx.x;
  const int odd = __syncthreads_count(thread % 2);
  const int of_all = __syncthreads_and(thread >= 0) + __syncthreads_and(thread > 0);
  const int of_any = __syncthreads_or(thread == 1) + __syncthreads_or(thread < 0);
  out[thread] = odd * 100 + of_all * 10 + of_any;
}

__global__ void warps(unsigned *wrong) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  unsigned sum = lane + warp;
  for (unsigned offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(all, sum, offset);
  int same = 0;
  bool right = __shfl_sync(all, sum, 0) == 496 + 32 * warp;
  right = right && __ballot_sync(all, lane % 3 == 0) == 0x49249249;
  right = right & (__any_sync(all, lane == 5) && !__all_sync(all, lane < 31));
  right = right & (__match_any_sync(all, lane / 4) == 0xfU << lane / 4 * 4);
  right = right & (__match_all_sync(all, 5, &same) == all && same);
  right = right & (__match_all_sync(all, lane, &same) == 0 && !same);
  right = right & (__reduce_add_sync(all, lane) == 496);
  right = right & (__shfl_xor_sync(all, lane + 0.5, 1) == (lane ^ 1) + 0.5);
  right = right & (__shfl_up_sync(all, lane, 3) == (lane < 3 ? lane : lane - 3));
  right = right & (__shfl_sync(all, lane, 2, 8) == lane / 8 * 8 + 2);
  // Two halves, each on its own.
  if (lane < 16) {
    right = right & (__reduce_max_sync(0xffff, lane) == 15);
  } else {
    right = right & (__reduce_max_sync(0xffff0000, lane) == 31);
  }
  if (!right) atomicAdd(wrong, 1);
}

int main() {
  int *numbers = zeros<int>(360), *counts = zeros<int>(67);
  unsigned *wrong = zeros<unsigned>(1);
  number<<<dim3(3, 2, 2), dim3(5, 3, 2)>>>(numbers);
  count<<<1, 67>>>(counts);
  warps<<<1, 96>>>(wrong);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 360; ++i) EXPECT(numbers[i] == i % 30 + 1);
  for (int i = 0; i < 67; ++i) EXPECT(counts[i] == 3311);
  EXPECT(*wrong == 0);
}

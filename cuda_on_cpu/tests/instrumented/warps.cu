// Warps, and flags between them. Variant 0 is right; the others make one mistake each, at the lines
// that say so.
#include <cooperative_groups.h>

#include "device_memory.h"

namespace cg = cooperative_groups;
constexpr unsigned all = 0xffffffff;

__global__ void warp_sum(int variant, const float* x, float* y) {
  __shared__ float part[64];
  const unsigned t = threadIdx.x;
  const unsigned lane = t % 32;
  part[t] = x[t];
  __syncthreads();
  for (unsigned width = 16; width > 0; width /= 2) {
    float other = 0;
    if (lane < width) other = part[t + width];  // 1: race
    if (lane < width) part[t] += other;         // 1: race, 3: race
    if (variant != 1) __syncwarp();
  }
  if (variant != 3) __syncthreads();
  if (t == 63) {
    y[0] = part[32] + part[0];  // 3: race
  }
}

// Halves of the warp, which wait for themselves only.
__global__ void halves(int variant, float* y) {
  __shared__ float part[32];
  const unsigned lane = threadIdx.x;
  part[lane] = lane;  // 2: race
  __syncwarp(lane < 16 ? 0x0000ffffU : 0xffff0000U);
  const unsigned other = variant == 2 && lane >= 16 ? lane ^ 16U : lane ^ 8U;
  y[lane] = part[other];  // 2: race
}

// What lane 0 has written before it meets lane 8, lane 16 knows after it has met lane 8.
__global__ void transitive(float* y) {
  __shared__ float part[32];
  const unsigned lane = threadIdx.x;
  if (lane == 0) part[0] = 1;
  if (lane < 16) __syncwarp(0x0000ffffU);
  if (lane >= 8 && lane < 24) __syncwarp(0x00ffff00U);
  if (lane == 16) y[0] = part[0];
  if (lane == 24) part[1] = 2;
  if (lane >= 24) __syncwarp(0xff000000U);
  if (lane == 31) y[1] = part[1];
}

__global__ void broadcast(int variant, float* y) {
  __shared__ float first;
  const unsigned t = threadIdx.x;
  if (t == 0) first = 3;  // 4: race
  const int sum = variant == 4 ? 1 : __shfl_sync(all, 1, 0);
  y[t] = first + sum;  // 4: race
}

__global__ void tiles_of_eight(float* y) {
  __shared__ float part[64];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  part[threadIdx.x] = 1;
  tile.sync();
  y[threadIdx.x] = part[threadIdx.x ^ 7U];
}

// A warp waits for another by a flag.
__global__ void flag(int variant, float* y) {
  __shared__ float message;
  __shared__ int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    message = 5;  // 5: race
    if (variant != 5) __threadfence_block();
    *const_cast<volatile int*>(&ready) = 1;
  } else if (threadIdx.x == 32) {
    while (*const_cast<volatile int*>(&ready) == 0) {
    }
    *y = message;  // 5: race
  }
}

// A lock.
__global__ void add_one_by_one(int variant, int* lock, float* y) {
  bool is_done = false;
  while (!is_done) {
    if (variant == 6 || atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *y += 1;  // 6: race
      __threadfence();
      atomicExch(lock, 0);
      is_done = true;
    }
  }
}

int main(int, char** arguments) {
  const int variant = std::atoi(arguments[1]);
  auto* const x = zeros<float>(64);
  auto* const y = unset<float>(64);
  auto* const lock = zeros<int>(1);
  warp_sum<<<1, 64>>>(variant, x, y);
  halves<<<1, 32>>>(variant, y);
  transitive<<<1, 32>>>(y);
  broadcast<<<1, 32>>>(variant, y);
  tiles_of_eight<<<1, 64>>>(y);
  flag<<<1, 64>>>(variant, y);
  add_one_by_one<<<2, 64>>>(variant, lock, y);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

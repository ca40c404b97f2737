// The storage of CUB's blocks. Variant 0 is right; in the others, a barrier between two uses is
// missing.
#include <cub/cub.cuh>

#include "device_memory.h"

constexpr int threads = 64;

__global__ void use(int variant, const float* x, float* y) {
  using Load = cub::BlockLoad<float, threads, 2, cub::BLOCK_LOAD_TRANSPOSE>;
  using Reduce = cub::BlockReduce<float, threads>;
  using Scan = cub::BlockScan<float, threads>;
  using Sort = cub::BlockRadixSort<float, threads, 2>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
  } storage;
  float values[2], own;
  if (threadIdx.x < threads / 2) own = x[threadIdx.x];
  Load(storage.load).Load(x, values);  // 1: race
  if (variant != 1) __syncthreads();
  float sum = Reduce(storage.reduce).Sum(own, threads / 2);  // 1: race
  __syncthreads();
  sum += Reduce(storage.reduce).Sum(values);  // 2: race
  if (variant != 2) __syncthreads();
  Scan(storage.scan).InclusiveSum(values, values);  // 2: race, 3: race
  if (variant != 3) __syncthreads();
  Sort(storage.sort).Sort(values);  // 3: race
  y[threadIdx.x] = sum + values[0] + values[1];
}

int main(int, char** arguments) {
  auto* const x = zeros<float>(2 * threads);
  use<<<1, threads>>>(std::atoi(arguments[1]), x, unset<float>(threads));
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

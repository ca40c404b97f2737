// Both branches have a barrier, but it is not the same one.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void swap_halves(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  if (i < 32) {
    tile[i + 32] = x[i];
    __syncthreads();
  } else {
    tile[i - 32] = x[i];
    __syncthreads();
  }
  y[i] = tile[i];
}
//! [kernel]

//! [cure]
__global__ void swap_halves_cured(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  if (i < 32) {
    tile[i + 32] = x[i];
  } else {
    tile[i - 32] = x[i];
  }
  __syncthreads();
  y[i] = tile[i];
}
//! [cure]

}  // namespace

void different_barriers(bool cured) {
  const int n = 64;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    swap_halves_cured<<<1, n>>>(x, y);
  } else {
    swap_halves<<<1, n>>>(x, y);
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

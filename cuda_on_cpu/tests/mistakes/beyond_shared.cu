// The tile has no room for the neighbour of its last element.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void differences(int n, const float* x, float* y) {
  __shared__ float tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) tile[threadIdx.x] = x[i];
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) tile[threadIdx.x + 1] = x[i + 1];
  __syncthreads();
  if (i + 1 < n) y[i] = tile[threadIdx.x + 1] - tile[threadIdx.x];
}
//! [kernel]

//! [cure]
__global__ void differences_cured(int n, const float* x, float* y) {
  __shared__ float tile[64 + 1];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) tile[threadIdx.x] = x[i];
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) tile[threadIdx.x + 1] = x[i + 1];
  __syncthreads();
  if (i + 1 < n) y[i] = tile[threadIdx.x + 1] - tile[threadIdx.x];
}
//! [cure]

}  // namespace

void beyond_shared(bool cured) {
  const int n = 100;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    differences_cured<<<2, 64>>>(n, x, y);
  } else {
    differences<<<2, 64>>>(n, x, y);
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

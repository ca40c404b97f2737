// Threads read what others write, and nobody waits.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void left_neighbour(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  tile[i] = x[i];
  y[i] = i > 0 ? tile[i - 1] : 0;
}
//! [kernel]

//! [cure]
__global__ void left_neighbour_cured(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  tile[i] = x[i];
  __syncthreads();
  y[i] = i > 0 ? tile[i - 1] : 0;
}
//! [cure]

}  // namespace

void missing_barrier(bool cured) {
  const int n = 64;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    left_neighbour_cured<<<1, n>>>(x, y);
  } else {
    left_neighbour<<<1, n>>>(x, y);
  }
  std::vector<float> result(n);
  check(cudaMemcpy(result.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost));
  std::vector<float> right(n);
  std::iota(right.begin(), right.end(), 0.0F);
  expect(result, right);
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

// Threads that have no element return before a barrier that the others wait at.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void left_neighbour(int n, const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  if (i >= n) return;
  tile[i] = x[i];
  __syncthreads();
  y[i] = i > 0 ? tile[i - 1] : 0;
}
//! [kernel]

//! [cure]
__global__ void left_neighbour_cured(int n, const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  if (i < n) tile[i] = x[i];
  __syncthreads();  // all threads of the block come here
  if (i < n) y[i] = i > 0 ? tile[i - 1] : 0;
}
//! [cure]

}  // namespace

void barrier_divergence(bool cured) {
  const int n = 50;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    left_neighbour_cured<<<1, 64>>>(n, x, y);
  } else {
    left_neighbour<<<1, 64>>>(n, x, y);
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

// The launch is refused, and nobody asks.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void fill(int n, float value, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

//! [kernel]
void run(int n, int threads, float* x) {
  const int blocks = n / threads;
  fill<<<blocks, threads>>>(n, 1.0F, x);
}
//! [kernel]

//! [cure]
void run_cured(int n, int threads, float* x) {
  const int blocks = (n + threads - 1) / threads;
  fill<<<blocks, threads>>>(n, 1.0F, x);
  check(cudaGetLastError());
}
//! [cure]

}  // namespace

void unchecked_launch(bool cured) {
  const int n = 100;
  const int threads = 256;
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMemset(x, 0, n * sizeof(float)));
  (cured ? run_cured : run)(n, threads, x);
  std::vector<float> result(n);
  check(cudaMemcpy(result.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost));
  expect(result, std::vector<float>(n, 1));
  check(cudaFree(x));
}

}  // namespace mistakes

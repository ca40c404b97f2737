// The memory is freed before the last kernel that uses it.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void add(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

//! [kernel]
void run(int n, float* x, float* y) {
  add<<<4, 256>>>(n, x, y);
  check(cudaFree(x));
  add<<<4, 256>>>(n, x, y);
  check(cudaDeviceSynchronize());
}
//! [kernel]

//! [cure]
void run_cured(int n, float* x, float* y) {
  add<<<4, 256>>>(n, x, y);
  add<<<4, 256>>>(n, x, y);
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
}
//! [cure]

}  // namespace

void use_after_free(bool cured) {
  const int n = 1000;
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemset(x, 0, n * sizeof(float)));
  check(cudaMemset(y, 0, n * sizeof(float)));
  (cured ? run_cured : run)(n, x, y);
  check(cudaFree(y));
}

}  // namespace mistakes

// An error of a kernel that is not looked for shows at a call that has nothing to do with it.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void scale(int n, float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] *= a;
}

__global__ void scale_cured(int n, float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}

//! [kernel]
void run(int n, float* x) {
  float* y = nullptr;
  scale<<<4, 256>>>(n, 2.0F, x);  // i <= n where i < n was meant
  check(cudaMalloc(&y, n * sizeof(float)));
}
//! [kernel]

//! [cure]
void run_cured(int n, float* x) {
  float* y = nullptr;
  scale_cured<<<4, 256>>>(n, 2.0F, x);
  check(cudaGetLastError());       // was the launch taken?
  check(cudaDeviceSynchronize());  // did the kernel end well? Not in every step: it waits
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaFree(y));
}
//! [cure]

}  // namespace

void late_error(bool cured) {
  const int n = 1000;
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMemset(x, 0, n * sizeof(float)));
  (cured ? run_cured : run)(n, x);
  check(cudaFree(x));
}

}  // namespace mistakes

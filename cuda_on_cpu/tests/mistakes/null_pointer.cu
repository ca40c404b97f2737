// The memory is never allocated.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void fill(int n, float value, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

//! [kernel]
void run() {
  const int n = 1000;
  float* x = nullptr;
  fill<<<4, 256>>>(n, 1.0F, x);
  check(cudaDeviceSynchronize());
}
//! [kernel]

//! [cure]
void run_cured() {
  const int n = 1000;
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  fill<<<4, 256>>>(n, 1.0F, x);
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
}
//! [cure]

}  // namespace

void null_pointer(bool cured) {
  (cured ? run_cured : run)();
}

}  // namespace mistakes

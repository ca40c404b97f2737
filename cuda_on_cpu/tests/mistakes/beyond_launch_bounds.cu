// __launch_bounds__ is a promise of the kernel's author to the compiler.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
constexpr int most_threads = 256;

__global__ void __launch_bounds__(most_threads) square(int n, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

void run(int n, float* x) {
  square<<<(n + 511) / 512, 512>>>(n, x);
  check(cudaGetLastError());
}
//! [kernel]

//! [cure]
void run_cured(int n, float* x) {
  square<<<(n + most_threads - 1) / most_threads, most_threads>>>(n, x);
  check(cudaGetLastError());
}
//! [cure]

}  // namespace

void beyond_launch_bounds(bool cured) {
  const int n = 1000;
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMemset(x, 0, n * sizeof(float)));
  (cured ? run_cured : run)(n, x);
  check(cudaFree(x));
}

}  // namespace mistakes

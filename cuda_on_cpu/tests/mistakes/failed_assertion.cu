// A kernel says what it relies on, and a launch does not heed it.

#include <cassert>

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void pair_sums(int n, const float* x, float* y) {
  assert(n % 2 == 0);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) y[i] = x[2 * i] + x[2 * i + 1];
}

void launch(int n, const float* x, float* y) {
  pair_sums<<<1, 64>>>(n, x, y);
}
//! [kernel]

//! [cure]
__global__ void add_last(int n, const float* x, float* y) {
  y[n / 2] = x[n - 1];
}

void launch_cured(int n, const float* x, float* y) {
  const int even = n / 2 * 2;
  pair_sums<<<1, 64>>>(even, x, y);
  if (even < n) add_last<<<1, 1>>>(n, x, y);
}
//! [cure]

}  // namespace

void failed_assertion(bool cured) {
  const int n = 101;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, (n + 1) / 2 * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  (cured ? launch_cured : launch)(n, x, y);
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

// A recursion that does not end where a thread has nothing to add.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__device__ float sum(const float* x, int first, int end) {
  if (end - first == 1) return x[first];
  const int middle = (first + end) / 2;
  return sum(x, first, middle) + sum(x, middle, end);
}
//! [kernel]

//! [cure]
__device__ float sum_cured(const float* x, int first, int end) {
  if (first == end) return 0;
  if (end - first == 1) return x[first];
  const int middle = (first + end) / 2;
  return sum_cured(x, first, middle) + sum_cured(x, middle, end);
}
//! [cure]

__global__ void sums(int n, const float* x, float* y) {
  const int i = threadIdx.x;
  y[i] = sum(x, min(i * 30, n), min((i + 1) * 30, n));
}

__global__ void sums_cured(int n, const float* x, float* y) {
  const int i = threadIdx.x;
  y[i] = sum_cured(x, min(i * 30, n), min((i + 1) * 30, n));
}

}  // namespace

void stack_overflow(bool cured) {
  const int n = 100;  // 30 for each of three threads, 10 for another, none for the rest
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, 8 * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    sums_cured<<<1, 8>>>(n, x, y);
  } else {
    sums<<<1, 8>>>(n, x, y);
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

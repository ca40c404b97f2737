// A lane reads the value of one that the mask does not name.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void sum_some(unsigned n, const float* x, float* total) {
  const unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < n);
  if (threadIdx.x < n) {
    float value = x[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
      value += __shfl_down_sync(mask, value, distance);
    }
    if (threadIdx.x == 0) *total = value;
  }
}
//! [kernel]

//! [cure]
__global__ void sum_some_cured(unsigned n, const float* x, float* total) {
  const unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < n);
  if (threadIdx.x < n) {
    float value = x[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
      const bool is_there = threadIdx.x + distance < n;
      const float other = __shfl_sync(mask, value, threadIdx.x + (is_there ? distance : 0));
      if (is_there) value += other;
    }
    if (threadIdx.x == 0) *total = value;
  }
}
//! [cure]

}  // namespace

void shuffle_outside_mask(bool cured) {
  const int n = 20;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* total = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&total, sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    sum_some_cured<<<1, 32>>>(n, x, total);
  } else {
    sum_some<<<1, 32>>>(n, x, total);
  }
  std::vector<float> result(1);
  check(cudaMemcpy(result.data(), total, sizeof(float), cudaMemcpyDeviceToHost));
  expect(result, {210});
  check(cudaFree(x));
  check(cudaFree(total));
}

}  // namespace mistakes

// The mask of a warp function names lanes that do not take part.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void sum(int n, const float* x, float* total) {
  const int i = threadIdx.x;
  if (i < n) {
    float value = x[i];
    for (int distance = 16; distance > 0; distance /= 2) {
      value += __shfl_down_sync(0xffffffff, value, distance);
    }
    if (i == 0) *total = value;
  }
}
//! [kernel]

//! [cure]
__global__ void sum_cured(int n, const float* x, float* total) {
  const int i = threadIdx.x;
  float value = i < n ? x[i] : 0;  // all 32 lanes go on, some of them with 0
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xffffffff, value, distance);
  }
  if (i == 0) *total = value;
}
//! [cure]

}  // namespace

void missing_lanes(bool cured) {
  const int n = 20;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* total = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&total, sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    sum_cured<<<1, 32>>>(n, x, total);
  } else {
    sum<<<1, 32>>>(n, x, total);
  }
  std::vector<float> result(1);
  check(cudaMemcpy(result.data(), total, sizeof(float), cudaMemcpyDeviceToHost));
  expect(result, {210});
  check(cudaFree(x));
  check(cudaFree(total));
}

}  // namespace mistakes

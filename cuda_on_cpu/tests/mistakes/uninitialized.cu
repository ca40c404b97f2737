// A sum is added to memory that nobody has set to 0.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void add_up(int n, const float* x, float* total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i]);
}

//! [kernel]
void run(int n, const float* x, std::vector<float>& result) {
  float* total = nullptr;
  check(cudaMalloc(&total, sizeof(float)));
  add_up<<<1, 128>>>(n, x, total);
  check(cudaMemcpy(result.data(), total, sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(total));
}
//! [kernel]

//! [cure]
void run_cured(int n, const float* x, std::vector<float>& result) {
  float* total = nullptr;
  check(cudaMalloc(&total, sizeof(float)));
  check(cudaMemset(total, 0, sizeof(float)));
  add_up<<<1, 128>>>(n, x, total);
  check(cudaMemcpy(result.data(), total, sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(total));
}
//! [cure]

}  // namespace

void uninitialized(bool cured) {
  const int n = 100;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  std::vector<float> result(1);
  (cured ? run_cured : run)(n, x, result);
  expect(result, {5050});
  check(cudaFree(x));
}

}  // namespace mistakes

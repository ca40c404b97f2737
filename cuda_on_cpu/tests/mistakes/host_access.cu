// Host code looks into the memory of the device.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void fill(int n, float value, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

//! [kernel]
void run(int n, float* x, std::vector<float>& result) {
  fill<<<4, 256>>>(n, 1.0F, x);
  check(cudaDeviceSynchronize());
  result[0] = x[3];
}
//! [kernel]

//! [cure]
void run_cured(int n, float* x, std::vector<float>& result) {
  fill<<<4, 256>>>(n, 1.0F, x);
  check(cudaMemcpy(result.data(), x + 3, sizeof(float), cudaMemcpyDeviceToHost));
}
//! [cure]

}  // namespace

void host_access(bool cured) {
  const int n = 1000;
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  std::vector<float> result(1);
  (cured ? run_cured : run)(n, x, result);
  expect(result, {1});
  check(cudaFree(x));
}

}  // namespace mistakes

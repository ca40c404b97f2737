// The host reads the result of an asynchronous copy without waiting for it.

#include <algorithm>

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void fill(int n, float value, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

//! [kernel]
void run(int n, cudaStream_t stream, float* x, float* host, std::vector<float>& result) {
  fill<<<4, 256, 0, stream>>>(n, 1.0F, x);
  check(cudaMemcpyAsync(host, x, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  result.assign(host, host + n);
}
//! [kernel]

//! [cure]
void run_cured(int n, cudaStream_t stream, float* x, float* host, std::vector<float>& result) {
  fill<<<4, 256, 0, stream>>>(n, 1.0F, x);
  check(cudaMemcpyAsync(host, x, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  result.assign(host, host + n);
}
//! [cure]

}  // namespace

void missing_wait(bool cured) {
  const int n = 1000;
  float* x = nullptr;
  float* host = nullptr;
  cudaStream_t stream = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMallocHost(&host, n * sizeof(float)));  // pinned, or the copy would not be asynchronous
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::fill_n(host, n, 0.0F);
  std::vector<float> result;
  (cured ? run_cured : run)(n, stream, x, host, result);
  expect(result, std::vector<float>(n, 1));
  check(cudaStreamDestroy(stream));
  check(cudaFreeHost(host));
  check(cudaFree(x));
}

}  // namespace mistakes

// A kernel in one stream uses what a kernel in another computes.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void fill(int n, float value, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

__global__ void add(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

//! [kernel]
void run(int n, cudaStream_t first, cudaStream_t second, float* x, float* y) {
  fill<<<4, 256, 0, first>>>(n, 1.0F, x);
  add<<<4, 256, 0, second>>>(n, x, y);
  check(cudaStreamSynchronize(second));
}
//! [kernel]

//! [cure]
void run_cured(int n, cudaStream_t first, cudaStream_t second, cudaEvent_t filled, float* x,
               float* y) {
  fill<<<4, 256, 0, first>>>(n, 1.0F, x);
  check(cudaEventRecord(filled, first));
  check(cudaStreamWaitEvent(second, filled, 0));
  add<<<4, 256, 0, second>>>(n, x, y);
  check(cudaStreamSynchronize(second));
}
//! [cure]

}  // namespace

void missing_event(bool cured) {
  const int n = 1000;
  float* x = nullptr;
  float* y = nullptr;
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t filled = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemset(x, 0, n * sizeof(float)));
  check(cudaMemset(y, 0, n * sizeof(float)));
  check(cudaDeviceSynchronize());
  check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  check(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
  if (cured) {
    run_cured(n, first, second, filled, x, y);
  } else {
    run(n, first, second, x, y);
  }
  std::vector<float> result(n);
  check(cudaMemcpy(result.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost));
  expect(result, std::vector<float>(n, 1));
  check(cudaEventDestroy(filled));
  check(cudaStreamDestroy(first));
  check(cudaStreamDestroy(second));
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

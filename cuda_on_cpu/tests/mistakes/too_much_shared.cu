// More than 48 KiB of shared memory must be asked for.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

__global__ void reverse(int n, const float* x, float* y) {
  extern __shared__ float tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[n - 1 - i];
}

//! [kernel]
void run(int n, const float* x, float* y) {
  reverse<<<1, 256, n * sizeof(float)>>>(n, x, y);
  check(cudaGetLastError());
}
//! [kernel]

//! [cure]
void run_cured(int n, const float* x, float* y) {
  const int bytes = n * sizeof(float);
  check(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  reverse<<<1, 256, bytes>>>(n, x, y);
  check(cudaGetLastError());
}
//! [cure]

}  // namespace

void too_much_shared(bool cured) {
  const int n = 16000;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  (cured ? run_cured : run)(n, x, y);
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

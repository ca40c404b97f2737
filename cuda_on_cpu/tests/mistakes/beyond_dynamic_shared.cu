// The launch gives bytes where the kernel wants elements.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void reverse(const float* x, float* y) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

void launch(int n, const float* x, float* y) {
  reverse<<<1, n, n>>>(x, y);
}
//! [kernel]

//! [cure]
void launch_cured(int n, const float* x, float* y) {
  reverse<<<1, n, n * sizeof(float)>>>(x, y);
}
//! [cure]

}  // namespace

void beyond_dynamic_shared(bool cured) {
  const int n = 64;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  (cured ? launch_cured : launch)(n, x, y);
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
}

}  // namespace mistakes

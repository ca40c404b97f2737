// The last block has threads beyond the end of the array, and nobody keeps them from writing.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void scale(float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= a;
}
//! [kernel]

//! [cure]
__global__ void scale_cured(int n, float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}
//! [cure]

}  // namespace

void beyond_allocation(bool cured) {
  const int n = 1000;
  const std::vector<float> host = counting(n);
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    scale_cured<<<4, 256>>>(n, 2.0F, x);
  } else {
    scale<<<4, 256>>>(2.0F, x);
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
}

}  // namespace mistakes

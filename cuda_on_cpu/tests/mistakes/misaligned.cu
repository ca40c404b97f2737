// Four values at a time, but not from a multiple of four on.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
__global__ void sum_of_four(const float* x, float* sums) {
  const float4 four = reinterpret_cast<const float4*>(x)[threadIdx.x];
  sums[threadIdx.x] = four.x + four.y + four.z + four.w;
}
//! [kernel]

//! [cure]
__global__ void sum_of_four_cured(const float* x, float* sums) {
  float sum = 0.0F;
  for (unsigned i = 0; i < 4; ++i) sum += x[4 * threadIdx.x + i];
  sums[threadIdx.x] = sum;
}
//! [cure]

}  // namespace

void misaligned(bool cured) {
  const std::vector<float> host = counting(129);
  float* x = nullptr;
  float* sums = nullptr;
  check(cudaMalloc(&x, host.size() * sizeof(float)));
  check(cudaMalloc(&sums, 32 * sizeof(float)));
  check(cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  if (cured) {
    sum_of_four_cured<<<1, 32>>>(x + 1, sums);  // the first element is a header
  } else {
    //! [launch]
    sum_of_four<<<1, 32>>>(x + 1, sums);  // the first element is a header
    //! [launch]
  }
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(sums));
}

}  // namespace mistakes

// cudaMalloc() counts in bytes, not in elements.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
void run(int n, const std::vector<float>& host) {
  float* x = nullptr;
  check(cudaMalloc(&x, n));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
}
//! [kernel]

//! [cure]
void run_cured(int n, const std::vector<float>& host) {
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  check(cudaFree(x));
}
//! [cure]

}  // namespace

void copy_beyond(bool cured) {
  const int n = 1000;
  const std::vector<float> host = counting(n);
  (cured ? run_cured : run)(n, host);
}

}  // namespace mistakes

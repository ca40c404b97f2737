// The direction of a copy contradicts its pointers.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
void run(int n, const float* x, std::vector<float>& host) {
  check(cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyHostToDevice));
}
//! [kernel]

//! [cure]
void run_cured(int n, const float* x, std::vector<float>& host) {
  check(cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost));
}
//! [cure]

}  // namespace

void wrong_direction(bool cured) {
  const int n = 1000;
  std::vector<float> host = counting(n);
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMemset(x, 0, n * sizeof(float)));
  (cured ? run_cured : run)(n, x, host);
  check(cudaFree(x));
}

}  // namespace mistakes

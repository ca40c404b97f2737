// Two pointers to the same memory, and each is freed.

#include "check.cuh"
#include "mistakes/mistakes.hpp"

namespace mistakes {

namespace {

//! [kernel]
void run(int n) {
  float* x = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  float* y = x;
  check(cudaFree(x));
  check(cudaFree(y));
}
//! [kernel]

//! [cure]
void run_cured(int n) {
  float* x = nullptr;
  float* y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)));
  check(cudaMalloc(&y, n * sizeof(float)));
  check(cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice));
  check(cudaFree(x));
  check(cudaFree(y));
}
//! [cure]

}  // namespace

void double_free(bool cured) {
  const int n = 1000;
  (cured ? run_cured : run)(n);
}

}  // namespace mistakes

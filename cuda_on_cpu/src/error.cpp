#include "cuda_on_cpu/error.hpp"

#include <atomic>

#include <cuda_runtime_api.h>

namespace cuda_on_cpu {
namespace {

std::atomic<cudaError_t> sticky = cudaSuccess;
thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t sticky_error() {
  return sticky.load();
}

void set_sticky_error(cudaError_t error) {
  cudaError_t none = cudaSuccess;
  sticky.compare_exchange_strong(none, error);
}

void forget_errors() {
  sticky = cudaSuccess;
  last_error = cudaSuccess;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  return sticky_error() != cudaSuccess ? sticky_error() : last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define CUDA_ON_CPU_ERROR(name, number, text) \
  case cuda##name:                            \
    return "cuda" #name;
    CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_ERROR)
#undef CUDA_ON_CPU_ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define CUDA_ON_CPU_ERROR(name, number, text) \
  case cuda##name:                            \
    return text;
    CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_ERROR)
#undef CUDA_ON_CPU_ERROR
  }
  return "unrecognized error code";
}

#include "cuda/device.hpp"

#include <cmath>

#include <cuda_runtime.h>

#include "cuda/check.hpp"
#include "tensor/error.hpp"

namespace stagewise::cuda {
namespace {

/// 13000 is "13.0".
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

bool runs_on_cpu() {
#ifdef CUDA_ON_CPU
  return true;
#else
  return false;
#endif
}

void require_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return;
  cudaGetLastError();
  if (status == cudaErrorMemoryAllocation) {
    throw Error(
        "the host has too little memory for CUDA; its driver takes gigabytes of addresses, "
        "which ulimit -v may forbid");
  }
  const std::string reason = status == cudaSuccess ? "none is visible" : cudaGetErrorString(status);
  throw Error("no GPU can be used here (" + reason +
              "); the preset cpu needs none: its programs run CUDA on the CPU "
              "(./run.sh --preset cpu)");
}

std::string describe_device() {
  require_device();
  int device = 0;
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  if (runs_on_cpu()) return properties.name;
  const double gigabytes = 1e-9 * static_cast<double>(properties.totalGlobalMem);
  return std::string("GPU (") + properties.name + ", " +
         std::to_string(properties.multiProcessorCount) + " multiprocessors, " +
         std::to_string(std::lround(gigabytes)) + " GB)";
}

int multiprocessors() {
  static const int count = attribute(cudaDevAttrMultiProcessorCount);
  return count;
}

int shared_memory_per_block() {
  static const int bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return bytes;
}

int compute_capability() {
  static const int both = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                          attribute(cudaDevAttrComputeCapabilityMinor);
  return both;
}

std::vector<std::string> describe_libraries() {
  int runtime = 0;
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  if (runs_on_cpu())
    return {"CUDA on the CPU, with the functions of CUDA " + version_text(runtime)};
  int driver = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  return {"CUDA runtime " + version_text(runtime) + ", driver for CUDA up to " +
          version_text(driver)};
}

}  // namespace stagewise::cuda

#include "cuda/device.hpp"

#include <array>
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

int multiply_adds_per_cycle(int capability, bool in_double) {
  struct Row {
    int capability;
    int in_float;
    int in_double;
  };
  // From the throughput table in the CUDA C++ Programming Guide and the architectures' white
  // papers; for Blackwell, also from the peak rates of its GPUs in double. A B200 (10.0) has 37
  // TFLOP/s, with or without tensor cores: 64 multiply-adds. A B300 (10.3) has 1.25, and a GeForce
  // (12.0) a 64th of its rate in float: 2.
  constexpr std::array rows = {Row{70, 64, 32},  Row{75, 64, 2},  Row{80, 64, 64},   Row{86, 128, 2},
                               Row{87, 128, 2},  Row{89, 128, 2}, Row{90, 128, 128}, Row{100, 128, 64},
                               Row{103, 128, 2}, Row{120, 128, 2}};
  for (const Row& row : rows) {
    if (row.capability == capability) return in_double ? row.in_double : row.in_float;
  }
  return 0;
}

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
  return std::string("GPU (") + properties.name + ", " + std::to_string(properties.multiProcessorCount) +
         " multiprocessors, " + std::to_string(std::lround(gigabytes)) + " GB)";
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
  static const int both =
      10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
  return both;
}

int cache_bytes() {
  static const int bytes = attribute(cudaDevAttrL2CacheSize);
  return bytes;
}

// The clocks are in kHz, and memory transfers data twice per cycle.

double memory_bandwidth() {
  return 2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
}

double peak_operations(bool in_double) {
  return 2e3 * attribute(cudaDevAttrClockRate) * multiprocessors() *
         multiply_adds_per_cycle(compute_capability(), in_double);
}

std::vector<std::string> describe_libraries() {
  int runtime = 0;
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  if (runs_on_cpu()) return {"CUDA on the CPU, with the functions of CUDA " + version_text(runtime)};
  int driver = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  return {"CUDA runtime " + version_text(runtime) + ", driver for CUDA up to " + version_text(driver)};
}

}  // namespace stagewise::cuda

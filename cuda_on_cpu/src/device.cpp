#include "cuda_on_cpu/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/error.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

/// The version whose functions are offered.
constexpr int version = 12040;
constexpr int compute_capability_major = 9;

thread_local int device_of_thread = 0;

bool exists(int device) {
  return device >= 0 && device < settings().devices;
}

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

/// Which device may use which other's memory.
std::set<std::pair<int, int>>& peers() {
  static auto* const peers = new std::set<std::pair<int, int>>;
  return *peers;
}

}  // namespace

int current_device() {
  return device_of_thread;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaGetDeviceCount(int* count) {
  *count = settings().devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = device_of_thread;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (!exists(device)) return record(cudaErrorInvalidDevice);
  device_of_thread = device;
  return sticky_error();
}

cudaError_t cudaSetDeviceFlags(unsigned /*flags*/) {
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return record(cudaErrorInvalidValue);
  if (!exists(device)) return record(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "CUDA on the CPU (%s)",
                processor_model().c_str());
  properties->totalGlobalMem = settings().device_memory;
  properties->sharedMemPerBlock = default_shared_bytes;
  properties->sharedMemPerBlockOptin = max_shared_bytes;
  properties->sharedMemPerMultiprocessor = max_shared_bytes + 1024;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = 32;
  properties->memPitch = 0x7fffffff;
  properties->maxThreadsPerBlock = max_threads;
  properties->maxThreadsPerMultiProcessor = threads_per_multiprocessor;
  const int block[] = {1024, 1024, 64};
  const int grid[] = {0x7fffffff, 65535, 65535};
  std::copy_n(block, 3, properties->maxThreadsDim);
  std::copy_n(grid, 3, properties->maxGridSize);
  properties->clockRate = 1000000;
  properties->totalConstMem = 65536;
  properties->major = compute_capability_major;
  properties->multiProcessorCount = multiprocessors;
  properties->integrated = 1;
  properties->canMapHostMemory = 1;
  properties->concurrentKernels = 1;
  properties->asyncEngineCount = 1;
  properties->unifiedAddressing = 1;
  properties->managedMemory = 1;
  properties->cooperativeLaunch = 1;
  properties->pciBusID = device;
  properties->memoryClockRate = 1000000;
  properties->memoryBusWidth = 64;
  properties->l2CacheSize = 1 << 20;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties{};
  if (value == nullptr) return record(cudaErrorInvalidValue);
  if (!exists(device)) return record(cudaErrorInvalidDevice);
  cudaGetDeviceProperties(&properties, device);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
      *value = properties.maxThreadsDim[0];
      break;
    case cudaDevAttrMaxBlockDimY:
      *value = properties.maxThreadsDim[1];
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = properties.maxThreadsDim[2];
      break;
    case cudaDevAttrMaxGridDimX:
      *value = properties.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
      *value = properties.maxGridSize[1];
      break;
    case cudaDevAttrMaxGridDimZ:
      *value = properties.maxGridSize[2];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(default_shared_bytes);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(max_shared_bytes);
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(properties.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = 65536;
      break;
    case cudaDevAttrWarpSize:
      *value = 32;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = properties.regsPerBlock;
      break;
    case cudaDevAttrClockRate:
      *value = properties.clockRate;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = multiprocessors;
      break;
    case cudaDevAttrMemoryClockRate:
      *value = properties.memoryClockRate;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = properties.memoryBusWidth;
      break;
    case cudaDevAttrL2CacheSize:
      *value = properties.l2CacheSize;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = threads_per_multiprocessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      break;
    case cudaDevAttrIntegrated:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      break;
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrConcurrentManagedAccess:
      *value = 0;
      break;
    default:
      return record(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr || length < 13) return record(cudaErrorInvalidValue);
  if (!exists(device)) return record(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0",
                static_cast<unsigned>(device) & 0xffU);
  return cudaSuccess;
}

cudaError_t cudaDeviceReset() {
  const std::lock_guard lock(engine());
  reset_streams();
  free_all_memory();
  forget_errors();
  peers().clear();
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* value) {
  *value = version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* value) {
  *value = version;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!exists(device) || !exists(peer)) return record(cudaErrorInvalidDevice);
  *can = device != peer ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (!exists(peer) || peer == device_of_thread) return record(cudaErrorInvalidDevice);
  if (flags != 0) return record(cudaErrorInvalidValue);
  const std::lock_guard lock(engine());
  const bool fresh = peers().insert({device_of_thread, peer}).second;
  return fresh ? cudaSuccess : record(cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (!exists(peer)) return record(cudaErrorInvalidDevice);
  const std::lock_guard lock(engine());
  const bool there = peers().erase({device_of_thread, peer}) > 0;
  return there ? cudaSuccess : record(cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}

cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}

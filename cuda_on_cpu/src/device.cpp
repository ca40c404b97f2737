/// @file
/// Devices: what programs ask about them, and the settings of one that they may change. Their
/// limits are those of an H100 or H200; how fast one is, nothing here tells.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

thread_local int device_of_thread = 0;

/// Which device may use which other's memory.
std::set<std::pair<int, int>>& peers() {
  static auto* const peers = new std::set<std::pair<int, int>>;
  return *peers;
}

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

void set_limits_of_blocks(cudaDeviceProp& p) {
  p.sharedMemPerBlock = default_shared_bytes;
  p.sharedMemPerBlockOptin = max_shared_bytes;
  p.reservedSharedMemPerBlock = 1024;
  p.sharedMemPerMultiprocessor = max_shared_bytes + 1024;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.maxThreadsPerBlock = max_threads;
  p.maxThreadsPerMultiProcessor = threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = 32;
  const int block[] = {1024, 1024, 64};
  const int grid[] = {0x7fffffff, 65535, 65535};
  std::copy_n(block, 3, p.maxThreadsDim);
  std::copy_n(grid, 3, p.maxGridSize);
}

void set_abilities(cudaDeviceProp& p) {
  p.deviceOverlap = p.asyncEngineCount = p.integrated = p.canMapHostMemory = 1;
  p.concurrentKernels = p.unifiedAddressing = p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.managedMemory = p.concurrentManagedAccess = p.hostNativeAtomicSupported = 1;
  p.computePreemptionSupported = p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = p.hostRegisterSupported = p.memoryPoolsSupported = 1;
  p.directManagedMemAccessFromHost = 1;
}

using Limits = std::array<std::atomic<std::size_t>, 7>;
/// By their numbers: stack, printf(), malloc() in kernels; those that mean nothing here.
Limits& limits() {
  static Limits limits{1024, std::size_t{1} << 20, std::size_t{8} << 20, 0, 2048, 64, 0};
  return limits;
}
bool is_limit(cudaLimit limit) { return limit >= 0 && static_cast<std::size_t>(limit) < limits().size(); }

std::atomic<unsigned> device_flags = cudaDeviceMapHost;

}  // namespace

bool device_exists(int device) { return device >= 0 && device < settings().devices; }

int current_device() { return device_of_thread; }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaGetDeviceCount(int* count) { return answer(count, settings().devices); }

cudaError_t cudaGetDevice(int* device) { return answer(device, device_of_thread); }

cudaError_t cudaSetDevice(int device) {
  if (!device_exists(device)) return record(cudaErrorInvalidDevice);
  device_of_thread = device;
  return sticky_error();
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr || length < 13) return record(cudaErrorInvalidValue);
  if (!device_exists(device)) return record(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(device) & 0xffU);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  unsigned bus = 0;
  if (device == nullptr || text == nullptr) return record(cudaErrorInvalidValue);
  if (std::sscanf(text, "0000:%x:00.0", &bus) != 1 && std::sscanf(text, "%x:00.0", &bus) != 1) {
    return record(cudaErrorInvalidValue);
  }
  if (!device_exists(static_cast<int>(bus))) return record(cudaErrorInvalidDevice);
  *device = static_cast<int>(bus);
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

cudaError_t cudaDriverGetVersion(int* value) { return answer(value, CUDART_VERSION); }

cudaError_t cudaRuntimeGetVersion(int* value) { return answer(value, CUDART_VERSION); }

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!device_exists(device) || !device_exists(peer)) return record(cudaErrorInvalidDevice);
  return answer(can, device != peer ? 1 : 0);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  if (!device_exists(device) || !device_exists(peer) || device == peer) {
    return record(cudaErrorInvalidDevice);
  }
  const bool is_there = attribute == cudaDevP2PAttrAccessSupported || attribute == cudaDevP2PAttrNativeAtomicSupported;
  return answer(value, is_there ? 1 : 0);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (!device_exists(peer) || peer == device_of_thread) return record(cudaErrorInvalidDevice);
  if (flags != 0) return record(cudaErrorInvalidValue);
  const std::lock_guard lock(engine());
  const bool fresh = peers().insert({device_of_thread, peer}).second;
  return fresh ? cudaSuccess : record(cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (!device_exists(peer)) return record(cudaErrorInvalidDevice);
  const std::lock_guard lock(engine());
  const bool there = peers().erase({device_of_thread, peer}) > 0;
  return there ? cudaSuccess : record(cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }

cudaError_t cudaProfilerStop() { return cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return record(cudaErrorInvalidValue);
  if (!device_exists(device)) return record(cudaErrorInvalidDevice);
  cudaDeviceProp& p = *properties;
  p = {};
  std::snprintf(p.name, sizeof p.name, "CUDA on the CPU (%s)", processor_model().c_str());
  p.uuid.bytes[15] = static_cast<char>(device);
  p.totalGlobalMem = settings().device_memory;
  p.memPitch = 0x7fffffff;
  p.totalConstMem = 65536;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
  p.major = 9;
  p.multiProcessorCount = settings().multiprocessors;
  p.pciBusID = device;
  p.clockRate = p.memoryClockRate = 1000000;
  p.memoryBusWidth = 64;
  p.l2CacheSize = 1 << 20;
  p.singleToDoublePrecisionPerfRatio = 2;
  set_limits_of_blocks(p);
  set_abilities(p);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return record(cudaErrorInvalidValue);
  if (!device_exists(device)) return record(cudaErrorInvalidDevice);
  static const cudaDeviceProp of_first = [] {
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    return properties;
  }();
  cudaDeviceProp p = of_first;
  p.pciBusID = device;
  switch (attribute) {
#define CUDA_ON_CPU_ATTRIBUTE(name, number, expression) \
  case cudaDevAttr##name:                               \
    *value = static_cast<int>(expression);              \
    return cudaSuccess;
    CUDA_ON_CPU_DEVICE_ATTRIBUTES(CUDA_ON_CPU_ATTRIBUTE)
#undef CUDA_ON_CPU_ATTRIBUTE
  }
  return record(cudaErrorInvalidValue);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (wanted == nullptr) return record(cudaErrorInvalidValue);
  return answer(device, 0);  // they are all alike
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  const bool one_schedule = (schedule & (schedule - 1)) == 0;
  if (!one_schedule || flags > cudaDeviceMask) return record(cudaErrorInvalidValue);
  device_flags = flags | cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) { return answer(flags, device_flags.load()); }

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (!is_limit(limit)) return record(cudaErrorInvalidValue);
  return answer(value, limits()[static_cast<std::size_t>(limit)].load());
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (!is_limit(limit)) return record(cudaErrorInvalidValue);
  if (limit == cudaLimitStackSize && value > fiber_stack_bytes) {
    return refuse({},
                  "cudaDeviceSetLimit(): a thread has " + std::to_string(fiber_stack_bytes >> 10U) +
                      " KiB for its calls and local arrays here, and cannot have " +
                      std::to_string((value + 1023) >> 10U) + ".",
                  cudaErrorNotSupported);
  }
  limits()[static_cast<std::size_t>(limit)] = value;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache /*config*/) { return sticky_error(); }

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig /*config*/) {
  return sticky_error();  // banks of 4 bytes, as all recent GPUs have
}

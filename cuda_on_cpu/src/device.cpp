#include "cuda_on_cpu/device.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/error.hpp"
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

}  // namespace

bool device_exists(int device) {
  return device >= 0 && device < settings().devices;
}

int current_device() {
  return device_of_thread;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaGetDeviceCount(int* count) {
  return answer(count, settings().devices);
}

cudaError_t cudaGetDevice(int* device) {
  return answer(device, device_of_thread);
}

cudaError_t cudaSetDevice(int device) {
  if (!device_exists(device)) return record(cudaErrorInvalidDevice);
  device_of_thread = device;
  return sticky_error();
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr || length < 13) return record(cudaErrorInvalidValue);
  if (!device_exists(device)) return record(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0",
                static_cast<unsigned>(device) & 0xffU);
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

cudaError_t cudaDriverGetVersion(int* value) {
  return answer(value, CUDART_VERSION);
}

cudaError_t cudaRuntimeGetVersion(int* value) {
  return answer(value, CUDART_VERSION);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!device_exists(device) || !device_exists(peer)) return record(cudaErrorInvalidDevice);
  return answer(can, device != peer ? 1 : 0);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  if (!device_exists(device) || !device_exists(peer) || device == peer) {
    return record(cudaErrorInvalidDevice);
  }
  const bool is_there = attribute == cudaDevP2PAttrAccessSupported ||
                        attribute == cudaDevP2PAttrNativeAtomicSupported;
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

cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}

cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}

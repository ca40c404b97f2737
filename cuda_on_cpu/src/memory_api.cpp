/// @file
/// cudaMalloc() and its relatives, pools and advice for managed memory.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include <cuda_runtime_api.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/settings.hpp"
#include "cuda_on_cpu/stream.hpp"

struct CUmemPoolHandle_st {
  int device = 0;
  std::uint64_t release_threshold = 0;
};

namespace cuda_on_cpu {
namespace {

struct Pools {
  std::set<cudaMemPool_t> all;
  std::map<int, cudaMemPool_t> first;  ///< each device's own
};
Pools& pools() {
  static auto* const pools = new Pools;
  return *pools;
}

cudaMemPool_t new_pool(int device) {
  auto* const pool = new CUmemPoolHandle_st{device};
  pools().all.insert(pool);
  return pool;
}

cudaMemPool_t first_pool(int device) {
  const std::lock_guard lock(engine());
  cudaMemPool_t& pool = pools().first[device];
  if (pool == nullptr) pool = new_pool(device);
  return pool;
}

bool is_pool(cudaMemPool_t pool) {
  const std::lock_guard lock(engine());
  return pools().all.contains(pool);
}

/// Whether it says when memory may be taken again, which here makes no difference.
bool is_reuse(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

/// What CUDA demands of memory that is prefetched or advised on.
cudaError_t check_managed(const char* call, const void* pointer, std::size_t bytes, Place place) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto found = find_allocation(address);
  if (bytes == 0) return record(cudaErrorInvalidValue);
  if (!found || found->freed || found->kind != MemoryKind::managed || address < found->begin ||
      bytes > found->end() - address) {
    return refuse(place, std::string(call) + ": the range is not memory of cudaMallocManaged().");
  }
  return cudaSuccess;
}

/// Memory of the host that the runtime knows.
std::optional<Allocation> find_pinned(const void* pointer) {
  auto found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
  const bool is_pinned = found && !found->freed && found->kind == MemoryKind::host;
  return is_pinned ? found : std::nullopt;
}

bool is_place(int device) { return device == cudaCpuDeviceId || device_exists(device); }

int to_device(cudaMemLocation location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : int{cudaCpuDeviceId};
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaMalloc(PointerTo pointer, std::size_t bytes, Place place) {
  const cudaError_t error = may_wait("cudaMalloc()");
  return error != cudaSuccess ? error : allocate(pointer, bytes, MemoryKind::device, place);
}

cudaError_t cudaMallocAsync(PointerTo pointer, std::size_t bytes, cudaStream_t stream, Place place) {
  return cudaMallocFromPoolAsync(pointer, bytes, first_pool(current_device()), stream, place);
}

cudaError_t cudaMallocFromPoolAsync(PointerTo pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                                    Place place) {
  if (!is_pool(pool)) return record(cudaErrorInvalidValue);
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &capturing);
  if (error != cudaSuccess) return error;
  if (capturing != cudaStreamCaptureStatusNone) {
    return refuse(place,
                  "cudaMallocAsync(): memory of a graph is not modelled here; allocate it before the "
                  "capture.",
                  cudaErrorStreamCaptureUnsupported);
  }
  return allocate(pointer, bytes, MemoryKind::device, place, 0, pool);
}

cudaError_t cudaMallocAsync(PointerTo pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                            Place place) {
  return cudaMallocFromPoolAsync(pointer, bytes, pool, stream, place);
}

cudaError_t cudaMallocManaged(PointerTo pointer, std::size_t bytes, unsigned flags, Place place) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
    return record(cudaErrorInvalidValue);
  }
  const cudaError_t error = may_wait("cudaMallocManaged()");
  return error != cudaSuccess ? error : allocate(pointer, bytes, MemoryKind::managed, place);
}

cudaError_t cudaMallocPitch(PointerTo pointer, std::size_t* pitch, std::size_t width, std::size_t height, Place place) {
  if (width > max_bytes || height > max_bytes / std::max<std::size_t>(width, 1)) {
    return record(cudaErrorMemoryAllocation);
  }
  if (pitch == nullptr) return record(cudaErrorInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(pointer, *pitch * height, place);
}

cudaError_t cudaHostAlloc(PointerTo pointer, std::size_t bytes, unsigned flags, Place place) {
  if (flags > 7) return record(cudaErrorInvalidValue);
  const cudaError_t error = may_wait("cudaHostAlloc()");
  return error != cudaSuccess ? error : allocate(pointer, bytes, MemoryKind::host, place, flags);
}

cudaError_t cudaMallocHost(PointerTo pointer, std::size_t bytes, unsigned flags, Place place) {
  return cudaHostAlloc(pointer, bytes, flags, place);
}

cudaError_t cudaFree(void* pointer, Place place) { return free_memory("cudaFree()", pointer, false, place); }

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream, Place place) {
  cudaError_t result = cudaSuccess;
  const cudaError_t error = submit(
      stream,
      [&] {
        called = {"cudaFreeAsync()", place};
        const auto found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
        if (found && !found->freed && pointer == reinterpret_cast<void*>(found->begin))
          note_filled(pointer, found->bytes);
        result = release_allocation("cudaFreeAsync()", pointer, false, place);
      },
      [&]() -> Work { return [=] { release_allocation("cudaFreeAsync()", pointer, false, place); }; });
  return record(error != cudaSuccess ? error : result);
}

cudaError_t cudaFreeHost(void* pointer, Place place) { return free_memory("cudaFreeHost()", pointer, true, place); }

cudaError_t cudaHostGetDevicePointer(PointerTo device, void* host, unsigned flags) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const auto found = find_pinned(host);
  if (flags != 0 || !found) return record(cudaErrorInvalidValue);
  return answer(device.pointer, host);
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  const auto found = find_pinned(pointer);
  return found ? answer(flags, found->flags | cudaHostAllocMapped) : record(cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto found = find_allocation(address);
  if (attributes == nullptr) return record(cudaErrorInvalidValue);
  *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, nullptr};
  if (!found || found->freed || address < found->begin || address >= found->end()) return cudaSuccess;
  void* const same = const_cast<void*>(pointer);
  attributes->device = found->device;
  attributes->devicePointer = same;
  if (found->kind == MemoryKind::device) attributes->type = cudaMemoryTypeDevice;
  if (found->kind == MemoryKind::managed) attributes->type = cudaMemoryTypeManaged;
  if (found->kind == MemoryKind::host) attributes->type = cudaMemoryTypeHost;
  if (found->kind != MemoryKind::device) attributes->hostPointer = same;
  return cudaSuccess;
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent, Place place) {
  if (pitched == nullptr) return record(cudaErrorInvalidValue);
  *pitched = {nullptr, 0, extent.width, extent.height};
  if (extent.depth > max_bytes / std::max<std::size_t>(extent.height, 1)) {
    return record(cudaErrorMemoryAllocation);
  }
  return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth, place);
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, cudaStream_t stream, Place place) {
  const cudaError_t error = check_managed("cudaMemPrefetchAsync()", pointer, bytes, place);
  if (error != cudaSuccess) return error;
  if (!is_place(device)) return record(cudaErrorInvalidDevice);
  return record(submit(
      stream, [] {}, []() -> Work { return [] {}; }));
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream, Place place) {
  if (flags != 0) return record(cudaErrorInvalidValue);
  return cudaMemPrefetchAsync(pointer, bytes, to_device(location), stream, place);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int device, Place place) {
  const cudaError_t error = check_managed("cudaMemAdvise()", pointer, bytes, place);
  if (error != cudaSuccess) return error;
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) {
    return record(cudaErrorInvalidValue);
  }
  const bool names_device = advice != cudaMemAdviseSetReadMostly && advice != cudaMemAdviseUnsetReadMostly &&
                            advice != cudaMemAdviseUnsetPreferredLocation;
  return names_device && !is_place(device) ? record(cudaErrorInvalidDevice) : cudaSuccess;
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location,
                          Place place) {
  return cudaMemAdvise(pointer, bytes, advice, to_device(location), place);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!device_exists(device)) return record(cudaErrorInvalidDevice);
  return answer(pool, first_pool(device));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  const std::lock_guard lock(engine());
  if (pool == nullptr || properties == nullptr || properties->allocType != cudaMemAllocationTypePinned ||
      properties->location.type != cudaMemLocationTypeDevice) {
    return record(cudaErrorInvalidValue);
  }
  if (!device_exists(properties->location.id)) return record(cudaErrorInvalidDevice);
  if (properties->handleTypes != cudaMemHandleTypeNone) {
    return refuse({}, "cudaMemPoolCreate(): pools that other processes can use are not modelled here.",
                  cudaErrorNotSupported);
  }
  *pool = new_pool(properties->location.id);
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const std::lock_guard lock(engine());
  if (!is_pool(pool) || pool == first_pool(pool->device)) return record(cudaErrorInvalidValue);
  pools().all.erase(pool);
  return cudaSuccess;  // what was allocated from it may still be in use
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(engine());
  if (!is_pool(pool) || value == nullptr) return record(cudaErrorInvalidValue);
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->release_threshold = *static_cast<std::uint64_t*>(value);
    return cudaSuccess;
  }
  return is_reuse(attribute) ? cudaSuccess : record(cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(engine());
  if (!is_pool(pool) || value == nullptr) return record(cudaErrorInvalidValue);
  if (is_reuse(attribute)) {
    *static_cast<int*>(value) = 1;
  } else {
    *static_cast<std::uint64_t*>(value) =
        attribute == cudaMemPoolAttrReleaseThreshold ? pool->release_threshold : bytes_of(pool);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t /*bytes*/) {
  return is_pool(pool) ? sticky_error() : record(cudaErrorInvalidValue);
}

/// @file
/// Copies and memory in the runtime API: directions, boxes of pitched memory, pools, advice.
#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// Where a function puts the address of memory: a pointer of any type, as in NVIDIA's typed forms.
struct PointerTo {
  template <class T>
  PointerTo(T** place) : pointer(reinterpret_cast<void**>(place)) {}
  PointerTo(std::nullptr_t /*none*/) {}
  operator void**() const { return pointer; }

  void** pointer = nullptr;
};

}  // namespace cuda_on_cpu

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
/// Of the width, bytes; for arrays, which there are none of here, elements.
struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPos {
  std::size_t x, y, z;
};
inline cudaPitchedPtr make_cudaPitchedPtr(void* d, std::size_t p, std::size_t xsz,
                                          std::size_t ysz) {
  return {d, p, xsz, ysz};
}
inline cudaExtent make_cudaExtent(std::size_t w, std::size_t h, std::size_t d) {
  return {w, h, d};
}
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) {
  return {x, y, z};
}
using cudaArray_t = struct cudaArray*;
using cudaArray_const_t = const struct cudaArray*;
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
enum : int { cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2 };

// Pools of cudaMallocAsync().
using cudaMemPool_t = struct CUmemPoolHandle_st*;
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrUsedMemCurrent = 7
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned char reserved[56];
};

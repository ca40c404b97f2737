/// @file
/// Textures, surfaces and CUDA arrays: for programs of compile.sh, which include this by themselves.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda_runtime.h"

enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeLinear = 2, cudaResourceTypePitch2D = 3 };
enum : unsigned int { cudaArrayDefault = 0, cudaArraySurfaceLoadStore = 2, cudaArrayTextureGather = 8 };

struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

namespace cuda_on_cpu {

/// The type of a vector's parts, or of a number itself.
template <class T, class = void>
struct Channel {
  using Type = T;
};
template <class T>
struct Channel<T, std::void_t<decltype(T::x)>> {
  using Type = decltype(T::x);
};

/// What a texture has at some coordinates: the bits of a float, or an integer, for each channel.
struct Texel {
  template <class T>
  T as() const {
    using Part = typename Channel<T>::Type;
    T result;
    for (std::size_t i = 0; i < sizeof(T) / sizeof(Part); ++i) {
      // Of an integer, the lower bytes.
      std::memcpy(reinterpret_cast<Part*>(&result) + i, &bits[i], sizeof(Part));
    }
    return result;
  }

  std::uint32_t bits[4];
};
Texel fetch(cudaTextureObject_t texture, int dimensions, float x, float y, float z, Place place);
Texel fetch_element(cudaTextureObject_t texture, int index, Place place);
/// Where a surface has some bytes; null if that is outside and nothing is to happen.
char* find_in_surface(cudaSurfaceObject_t surface, int x, int y, int bytes, cudaSurfaceBoundaryMode mode, Place place);
/// Copies between an array and memory; without a height, bytes in a row.
cudaError_t copy_array(const char* call, cudaArray_const_t array, std::size_t x, std::size_t y, const void* memory,
                       std::size_t pitch, std::size_t width, std::size_t height, bool is_to_array, cudaMemcpyKind kind,
                       Place place);

}  // namespace cuda_on_cpu

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Part = typename cuda_on_cpu::Channel<T>::Type;
  const auto bits = [](std::size_t i) { return i * sizeof(Part) < sizeof(T) ? static_cast<int>(8 * sizeof(Part)) : 0; };
  return {bits(0), bits(1), bits(2), bits(3),
          std::is_floating_point_v<Part> ? cudaChannelFormatKindFloat
          : std::is_signed_v<Part>       ? cudaChannelFormatKindSigned
                                         : cudaChannelFormatKindUnsigned};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned int flags = 0, CUDA_ON_CPU_HERE);
inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                                   std::size_t height = 0, unsigned int flags = 0, CUDA_ON_CPU_HERE) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags, place);
}
cudaError_t cudaFreeArray(cudaArray_t array, CUDA_ON_CPU_HERE);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags, cudaArray_t array);
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_array("cudaMemcpyToArray()", to, x, y, from, 0, bytes, 0, true, kind, place);
}
inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                       std::size_t bytes, cudaMemcpyKind kind, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_array("cudaMemcpyFromArray()", from, x, y, to, 0, bytes, 0, false, kind, place);
}
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                       std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                       CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_array("cudaMemcpy2DToArray()", to, x, y, from, pitch, width, height, true, kind, place);
}
inline cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                         std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                         CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_array("cudaMemcpy2DFromArray()", from, x, y, to, pitch, width, height, false, kind, place);
}
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view,
                                    CUDA_ON_CPU_HERE);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource, CUDA_ON_CPU_HERE);
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return cudaDestroyTextureObject(surface); }

template <class T>
T tex1Dfetch(cudaTextureObject_t texture, int index, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::fetch_element(texture, index, place).as<T>();
}
template <class T>
T tex1D(cudaTextureObject_t texture, float x, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::fetch(texture, 1, x, 0, 0, place).as<T>();
}
template <class T>
T tex2D(cudaTextureObject_t texture, float x, float y, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::fetch(texture, 2, x, y, 0, place).as<T>();
}
template <class T>
T tex3D(cudaTextureObject_t texture, float x, float y, float z, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::fetch(texture, 3, x, y, z, place).as<T>();
}

// Of a surface, x counts bytes.
template <class T>
void surf2Dread(T* value, cudaSurfaceObject_t surface, int x, int y,
                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CUDA_ON_CPU_HERE) {
  const char* const at = cuda_on_cpu::find_in_surface(surface, x, y, sizeof(T), mode, place);
  *value = at == nullptr ? T{} : *reinterpret_cast<const T*>(at);
}
template <class T>
T surf2Dread(cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,
             CUDA_ON_CPU_HERE) {
  T value;
  surf2Dread(&value, surface, x, y, mode, place);
  return value;
}
template <class T>
void surf2Dwrite(T value, cudaSurfaceObject_t surface, int x, int y,
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, CUDA_ON_CPU_HERE) {
  char* const at = cuda_on_cpu::find_in_surface(surface, x, y, sizeof(T), mode, place);
  if (at != nullptr) *reinterpret_cast<T*>(at) = value;
}

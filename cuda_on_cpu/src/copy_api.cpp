/// @file
/// cudaMemcpy...() and cudaMemset...().
#include <cuda_runtime_api.h>

#include "cuda_on_cpu/copy.hpp"
#include "cuda_on_cpu/error.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

Box rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
         std::size_t width, std::size_t height) {
  return {{static_cast<char*>(to), to_pitch},
          {static_cast<const char*>(from), from_pitch},
          {width, height}};
}

unsigned byte(int value) {
  return static_cast<unsigned char>(value);
}

Side<char> side(const cudaPitchedPtr& pointer) {
  return {static_cast<char*>(pointer.ptr), pointer.pitch, pointer.pitch * pointer.ysize};
}

bool exist(int device, int other) {
  int count = 0;
  cudaGetDeviceCount(&count);
  return device >= 0 && device < count && other >= 0 && other < count;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       Place place) {
  return copy_box("cudaMemcpy()", one_row(to, from, bytes), kind, true, nullptr, place);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream, Place place) {
  return copy_box("cudaMemcpyAsync()", one_row(to, from, bytes), kind, false, stream, place);
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, Place place) {
  return copy_box("cudaMemcpy2D()", rows(to, to_pitch, from, from_pitch, width, height), kind, true,
                  nullptr, place);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream, Place place) {
  return copy_box("cudaMemcpy2DAsync()", rows(to, to_pitch, from, from_pitch, width, height), kind,
                  false, stream, place);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters, Place place) {
  return copy_3d("cudaMemcpy3D()", parameters, true, nullptr, place);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream,
                              Place place) {
  return copy_3d("cudaMemcpy3DAsync()", parameters, false, stream, place);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes, Place place) {
  if (!exist(to_device, from_device)) return record(cudaErrorInvalidDevice);
  return copy_box("cudaMemcpyPeer()", one_row(to, from, bytes), cudaMemcpyDeviceToDevice, true,
                  nullptr, place);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream, Place place) {
  if (!exist(to_device, from_device)) return record(cudaErrorInvalidDevice);
  return copy_box("cudaMemcpyPeerAsync()", one_row(to, from, bytes), cudaMemcpyDeviceToDevice,
                  false, stream, place);
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes, Place place) {
  if (const cudaError_t error = may_wait("cudaMemset()"); error != cudaSuccess) return error;
  return fill_box("cudaMemset()", {static_cast<char*>(pointer)}, {bytes}, byte(value), 1, nullptr,
                  place);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream,
                            Place place) {
  return fill_box("cudaMemsetAsync()", {static_cast<char*>(pointer)}, {bytes}, byte(value), 1,
                  stream, place);
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height, Place place) {
  if (const cudaError_t error = may_wait("cudaMemset2D()"); error != cudaSuccess) return error;
  return fill_box("cudaMemset2D()", {static_cast<char*>(pointer), pitch}, {width, height},
                  byte(value), 1, nullptr, place);
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream, Place place) {
  return fill_box("cudaMemset2DAsync()", {static_cast<char*>(pointer), pitch}, {width, height},
                  byte(value), 1, stream, place);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent, Place place) {
  if (const cudaError_t error = may_wait("cudaMemset3D()"); error != cudaSuccess) return error;
  return fill_box("cudaMemset3D()", side(pitched), {extent.width, extent.height, extent.depth},
                  byte(value), 1, nullptr, place);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent,
                              cudaStream_t stream, Place place) {
  return fill_box("cudaMemset3DAsync()", side(pitched), {extent.width, extent.height, extent.depth},
                  byte(value), 1, stream, place);
}

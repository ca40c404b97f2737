/// @file
/// The functions of the runtime API that the stages use. Each does what NVIDIA's documentation says
/// of it, with the same error codes. Where memory comes from is remembered, so that a report can
/// name the line; hence the last parameter of the allocating functions. Where a program takes the
/// address of one, the translator puts a function without it.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_on_cpu/graph_api.h"
#include "cuda_on_cpu/memory_api.h"
#include "cuda_on_cpu/place.h"
#include "driver_types.h"

// Errors
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// Devices
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceSynchronize();
[[deprecated("use cudaDeviceSynchronize()")]] cudaError_t cudaThreadSynchronize();
[[deprecated("use cudaDeviceReset()")]] cudaError_t cudaThreadExit();
cudaError_t cudaDeviceReset();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// Memory
cudaError_t cudaMalloc(cuda_on_cpu::PointerTo pointer, std::size_t bytes, CUDA_ON_CPU_HERE);
cudaError_t cudaMallocAsync(cuda_on_cpu::PointerTo pointer, std::size_t bytes, cudaStream_t stream,
                            CUDA_ON_CPU_HERE);
cudaError_t cudaMallocManaged(cuda_on_cpu::PointerTo pointer, std::size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal, CUDA_ON_CPU_HERE);
cudaError_t cudaMallocPitch(cuda_on_cpu::PointerTo pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height, CUDA_ON_CPU_HERE);
cudaError_t cudaHostAlloc(cuda_on_cpu::PointerTo pointer, std::size_t bytes, unsigned int flags,
                          CUDA_ON_CPU_HERE);
cudaError_t cudaMallocHost(cuda_on_cpu::PointerTo pointer, std::size_t bytes,
                           unsigned int flags = 0, CUDA_ON_CPU_HERE);
cudaError_t cudaFree(void* pointer, CUDA_ON_CPU_HERE);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream, CUDA_ON_CPU_HERE);
cudaError_t cudaFreeHost(void* pointer, CUDA_ON_CPU_HERE);
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(cuda_on_cpu::PointerTo device, void* host, unsigned int flags);
cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);

// Copies and fills
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind,
                         CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes, CUDA_ON_CPU_HERE);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes,
                            cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height, CUDA_ON_CPU_HERE);
cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);

// Streams and events
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned int flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// Memory of other processes
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t cudaIpcOpenMemHandle(cuda_on_cpu::PointerTo pointer, cudaIpcMemHandle_t handle,
                                 unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void* pointer);

namespace cuda_on_cpu {
/// What NVIDIA's functions have for a parameter.
template <class T>
using Original = std::conditional_t<std::is_same_v<T, PointerTo>, void**, T>;
/// @see WithoutPlace
template <auto function, class Indices, class Parameters>
struct CallWithoutPlace;
template <auto function, std::size_t... index, class Parameters>
struct CallWithoutPlace<function, std::index_sequence<index...>, Parameters> {
  static cudaError_t call(Original<std::tuple_element_t<index, Parameters>>... arguments) {
    return function(arguments..., {"a call by pointer", 0});
  }
};
template <auto function, class... Parameters>
CallWithoutPlace<function, std::make_index_sequence<sizeof...(Parameters) - 1>,
                 std::tuple<Parameters...>>
    call_without_place(cudaError_t (*)(Parameters...));
/// Its function call() is `function` with NVIDIA's signature.
template <auto function>
using WithoutPlace = decltype(call_without_place<function>(function));
}  // namespace cuda_on_cpu

// __constant__ and __device__ variables: here a symbol is the variable itself.
namespace cuda_on_cpu {
/// cudaMemcpyToSymbol() and its relatives.
cudaError_t copy_symbol(void* symbol, std::size_t symbol_bytes, void* other, std::size_t bytes,
                        std::size_t offset, bool to_symbol, bool wait, cudaStream_t stream,
                        Place place);
/// From now on, copies may name the symbol's address as device memory.
void note_symbol(void* symbol, std::size_t bytes);
template <class T>
void* address_of(const T& symbol) {
  return const_cast<char*>(&reinterpret_cast<const volatile char&>(symbol));
}
}  // namespace cuda_on_cpu

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes,
                               std::size_t offset = 0,
                               cudaMemcpyKind /*kind*/ = cudaMemcpyHostToDevice, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_symbol(cuda_on_cpu::address_of(symbol), sizeof(T),
                                  const_cast<void*>(from), bytes, offset, true, true, nullptr,
                                  place);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind /*kind*/,
                                    cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_symbol(cuda_on_cpu::address_of(symbol), sizeof(T),
                                  const_cast<void*>(from), bytes, offset, true, false, stream,
                                  place);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                 std::size_t offset = 0,
                                 cudaMemcpyKind /*kind*/ = cudaMemcpyDeviceToHost,
                                 CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_symbol(cuda_on_cpu::address_of(symbol), sizeof(T), to, bytes, offset,
                                  false, true, nullptr, place);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind /*kind*/,
                                      cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_symbol(cuda_on_cpu::address_of(symbol), sizeof(T), to, bytes, offset,
                                  false, false, stream, place);
}
template <class T, class Pointer>
cudaError_t cudaGetSymbolAddress(Pointer** pointer, const T& symbol) {
  void* const address = cuda_on_cpu::address_of(symbol);
  cuda_on_cpu::note_symbol(address, sizeof(T));
  *pointer = static_cast<Pointer*>(address);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T& /*symbol*/) {
  *bytes = sizeof(T);
  return cudaSuccess;
}

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
namespace cuda_on_cpu {
/// As the option --default-stream per-thread of nvcc: stream 0 is each thread's own.
void use_default_stream_of_thread();
inline const bool default_stream_of_thread = (use_default_stream_of_thread(), true);
}  // namespace cuda_on_cpu
#endif

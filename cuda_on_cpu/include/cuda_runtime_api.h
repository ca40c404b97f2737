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
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceSynchronize();
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaPeekAtLastError(); }
inline cudaError_t cudaStreamSetAttribute(cudaStream_t /*stream*/, cudaLaunchAttributeID /*attribute*/,
                                          const cudaLaunchAttributeValue* /*value*/) {
  return cudaPeekAtLastError();
}
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
cudaError_t cudaMallocAsync(cuda_on_cpu::PointerTo pointer, std::size_t bytes, cudaStream_t stream, CUDA_ON_CPU_HERE);
cudaError_t cudaMallocManaged(cuda_on_cpu::PointerTo pointer, std::size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal, CUDA_ON_CPU_HERE);
cudaError_t cudaMallocPitch(cuda_on_cpu::PointerTo pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                            CUDA_ON_CPU_HERE);
cudaError_t cudaHostAlloc(cuda_on_cpu::PointerTo pointer, std::size_t bytes, unsigned int flags, CUDA_ON_CPU_HERE);
cudaError_t cudaMallocHost(cuda_on_cpu::PointerTo pointer, std::size_t bytes, unsigned int flags = 0, CUDA_ON_CPU_HERE);
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
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                              CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                           CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes, CUDA_ON_CPU_HERE);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream = nullptr,
                            CUDA_ON_CPU_HERE);
cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                         CUDA_ON_CPU_HERE);
cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);

// Boxes of pitched memory
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent, CUDA_ON_CPU_HERE);
cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent, CUDA_ON_CPU_HERE);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent, cudaStream_t stream = nullptr,
                              CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);

// Managed memory: it is everywhere at once here, so that advice changes nothing. Still, what CUDA
// refuses is refused. Of functions whose parameters CUDA 13 has changed, both forms.
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, cudaStream_t stream = nullptr,
                                 CUDA_ON_CPU_HERE);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int device,
                          CUDA_ON_CPU_HERE);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location,
                          CUDA_ON_CPU_HERE);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes = 0,
                                     unsigned int flags = cudaMemAttachSingle);

// Pools: each allocation of a pool is one of its own; a pool keeps count of them.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaMallocFromPoolAsync(cuda_on_cpu::PointerTo pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream, CUDA_ON_CPU_HERE);
cudaError_t cudaMallocAsync(cuda_on_cpu::PointerTo pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                            CUDA_ON_CPU_HERE);

// Streams and events
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data,
                                  unsigned int flags);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned int flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// Graphs, captured from streams or built node by node. Of functions whose parameters later versions
// of CUDA have changed, all forms.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags);
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original);
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     std::size_t count);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type);
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaKernelNodeParams* parameters, CUDA_ON_CPU_HERE);
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaMemcpy3DParms* parameters, CUDA_ON_CPU_HERE);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind, CUDA_ON_CPU_HERE);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                   std::size_t count, const cudaMemsetParams* parameters, CUDA_ON_CPU_HERE);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                 std::size_t count, const cudaHostNodeParams* parameters);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                  std::size_t count);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs,
                                       std::size_t count, cudaGraph_t child);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters);
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters,
                                         CUDA_ON_CPU_HERE);

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* error_node, char* log,
                                 std::size_t log_bytes);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                cudaGraphExecUpdateResult* result);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters, CUDA_ON_CPU_HERE);
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

// Memory of other processes
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t cudaIpcOpenMemHandle(cuda_on_cpu::PointerTo pointer, cudaIpcMemHandle_t handle, unsigned int flags);
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
CallWithoutPlace<function, std::make_index_sequence<sizeof...(Parameters) - 1>, std::tuple<Parameters...>>
    call_without_place(cudaError_t (*)(Parameters...));
/// Its function call() is `function` with NVIDIA's signature.
template <auto function>
using WithoutPlace = decltype(call_without_place<function>(function));

// __constant__ and __device__ variables: here a symbol is the variable itself.
/// cudaMemcpyToSymbol() and its relatives.
cudaError_t copy_symbol(void* symbol, std::size_t symbol_bytes, void* other, std::size_t bytes, std::size_t offset,
                        bool to_symbol, bool wait, cudaStream_t stream, Place place);
/// From now on, copies may name the symbol's address as device memory.
void note_symbol(void* symbol, std::size_t bytes);
template <class T>
void* address_of(const T& symbol) {
  return const_cast<char*>(&reinterpret_cast<const volatile char&>(symbol));
}
}  // namespace cuda_on_cpu

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind /*kind*/ = cudaMemcpyHostToDevice, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_symbol(cuda_on_cpu::address_of(symbol), sizeof(T), const_cast<void*>(from), bytes, offset,
                                  true, true, nullptr, place);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind /*kind*/, cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_symbol(cuda_on_cpu::address_of(symbol), sizeof(T), const_cast<void*>(from), bytes, offset,
                                  true, false, stream, place);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind /*kind*/ = cudaMemcpyDeviceToHost, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_symbol(cuda_on_cpu::address_of(symbol), sizeof(T), to, bytes, offset, false, true, nullptr,
                                  place);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind /*kind*/, cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE) {
  return cuda_on_cpu::copy_symbol(cuda_on_cpu::address_of(symbol), sizeof(T), to, bytes, offset, false, false, stream,
                                  place);
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

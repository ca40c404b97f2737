/// @file
/// The types of the runtime API: error codes (with NVIDIA's numbers), flags, handles, descriptions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vector_types.h"

/// Every error code: its name, its number and what cudaGetErrorString() says of it.
#define CUDA_ON_CPU_ERRORS(X)                                                                  \
  X(Success, 0, "no error")                                                                       \
  X(ErrorInvalidValue, 1, "invalid argument")                                                     \
  X(ErrorMemoryAllocation, 2, "out of memory")                                                    \
  X(ErrorInitializationError, 3, "initialization error")                                          \
  X(ErrorInvalidConfiguration, 9, "invalid configuration argument")                               \
  X(ErrorInvalidPitchValue, 12, "invalid pitch argument")                                         \
  X(ErrorInvalidSymbol, 13, "invalid device symbol")                                              \
  X(ErrorInvalidDevicePointer, 17, "invalid device pointer")                                      \
  X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                         \
  X(ErrorStubLibrary, 34, "the library of the CUDA driver is a stub")                             \
  X(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")  \
  X(ErrorDevicesUnavailable, 46, "all CUDA-capable devices are busy or unavailable")              \
  X(ErrorInvalidDeviceFunction, 98, "invalid device function")                                    \
  X(ErrorNoDevice, 100, "no CUDA-capable device is detected")                                     \
  X(ErrorInvalidDevice, 101, "invalid device ordinal")                                            \
  X(ErrorInvalidKernelImage, 200, "device kernel image is invalid")                               \
  X(ErrorDeviceUninitialized, 201, "invalid device context")                                      \
  X(ErrorMapBufferObjectFailed, 205, "mapping of buffer object failed")                           \
  X(ErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
  X(ErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")    \
  X(ErrorInvalidPtx, 218, "a PTX compilation failed")                                             \
  X(ErrorUnsupportedPtxVersion, 222, "the PTX was compiled with an unsupported toolchain")        \
  X(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                   \
  X(ErrorIllegalState, 401, "the operation cannot be performed in the present state")             \
  X(ErrorSymbolNotFound, 500, "named symbol not found")                                           \
  X(ErrorNotReady, 600, "device not ready")                                                       \
  X(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                         \
  X(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")                    \
  X(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                           \
  X(ErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                         \
  X(ErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                           \
  X(ErrorAssert, 710, "device-side assert triggered")                                             \
  X(ErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  X(ErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
  X(ErrorHardwareStackError, 714, "hardware stack error")                                         \
  X(ErrorIllegalInstruction, 715, "an illegal instruction was encountered")                       \
  X(ErrorMisalignedAddress, 716, "misaligned address")                                            \
  X(ErrorLaunchFailure, 719, "unspecified launch failure")                                        \
  X(ErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                 \
  X(ErrorNotPermitted, 800, "operation not permitted")                                            \
  X(ErrorNotSupported, 801, "operation not supported")                                            \
  X(ErrorSystemDriverMismatch, 803, "system has mismatched display and CUDA drivers")             \
  X(ErrorCompatNotSupportedOnDevice, 804, "forward compatibility was attempted on unsupported hardware") \
  X(ErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")       \
  X(ErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture") \
  X(ErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences") \
  X(ErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")     \
  X(ErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                        \
  X(ErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")  \
  X(ErrorStreamCaptureImplicit, 906, "operation would make the legacy stream depend on a capturing blocking stream") \
  X(ErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream") \
  X(ErrorStreamCaptureWrongThread, 908, "attempt to terminate a thread-local capture sequence from another thread") \
  X(ErrorGraphExecUpdateFailure, 910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
  X(ErrorUnknown, 999, "unknown error")

enum cudaError {
#define CUDA_ON_CPU_ERROR(name, number, text) cuda##name = number,
  CUDA_ON_CPU_ERRORS(CUDA_ON_CPU_ERROR)
#undef CUDA_ON_CPU_ERROR
};
using cudaError_t = cudaError;

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

// Streams, events, graphs: what stands behind the handles is the runtime's own business.
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;
using cudaHostFn_t = void (*)(void* user_data);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* user_data);

#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(0x1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(0x2))

enum : unsigned int {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaEventInterprocess = 4,
  cudaEventRecordDefault = 0,
  cudaEventWaitDefault = 0,
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaHostRegisterDefault = 0,
  cudaHostRegisterPortable = 1,
  cudaHostRegisterMapped = 2,
  cudaMemAttachGlobal = 1,
  cudaMemAttachHost = 2,
  cudaIpcMemLazyEnablePeerAccess = 1,
  cudaDeviceScheduleAuto = 0,
  cudaDeviceScheduleSpin = 1,
  cudaDeviceScheduleYield = 2,
  cudaDeviceScheduleBlockingSync = 4,
  cudaDeviceMapHost = 8,
  cudaOccupancyDefault = 0
};

enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess = 0,
  cudaGraphExecUpdateError = 1,
  cudaGraphExecUpdateErrorTopologyChanged = 2
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode;
  cudaGraphNode_t errorFromNode;
};

struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 13
};
enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int maxDynamicSharedSizeBytes;
};

enum cudaLaunchAttributeID { cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeCooperative = 2 };
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMemoryPoolsSupported = 115
};
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
};

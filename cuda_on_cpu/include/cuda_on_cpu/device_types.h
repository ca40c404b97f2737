/// @file
/// What can be asked about a device: properties, attributes, limits. The attributes are listed
/// once, each with its number and its value as an expression in the properties `p`.
#pragma once

#include <cstddef>

struct CUuuid_st {
  char bytes[16];
};
using cudaUUID_t = CUuuid_st;

/// Those of CUDA 12 and 13 together.
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  std::size_t totalConstMem;
  int major, minor;
  std::size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory;
  int computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3];
  int maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2];
  int maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
  int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
  int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  int globalL1CacheSupported, localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
  int concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
  int cooperativeLaunch, cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
  int unifiedFunctionPointers;
};

// clang-format off
#define CUDA_ON_CPU_DEVICE_ATTRIBUTES(X) \
  X(MaxThreadsPerBlock, 1, p.maxThreadsPerBlock) \
  X(MaxBlockDimX, 2, p.maxThreadsDim[0]) \
  X(MaxBlockDimY, 3, p.maxThreadsDim[1]) \
  X(MaxBlockDimZ, 4, p.maxThreadsDim[2]) \
  X(MaxGridDimX, 5, p.maxGridSize[0]) \
  X(MaxGridDimY, 6, p.maxGridSize[1]) \
  X(MaxGridDimZ, 7, p.maxGridSize[2]) \
  X(MaxSharedMemoryPerBlock, 8, p.sharedMemPerBlock) \
  X(TotalConstantMemory, 9, p.totalConstMem) \
  X(WarpSize, 10, p.warpSize) \
  X(MaxPitch, 11, p.memPitch) \
  X(MaxRegistersPerBlock, 12, p.regsPerBlock) \
  X(ClockRate, 13, p.clockRate) \
  X(GpuOverlap, 15, p.deviceOverlap) \
  X(MultiProcessorCount, 16, p.multiProcessorCount) \
  X(KernelExecTimeout, 17, p.kernelExecTimeoutEnabled) \
  X(Integrated, 18, p.integrated) \
  X(CanMapHostMemory, 19, p.canMapHostMemory) \
  X(ComputeMode, 20, p.computeMode) \
  X(ConcurrentKernels, 31, p.concurrentKernels) \
  X(EccEnabled, 32, p.ECCEnabled) \
  X(PciBusId, 33, p.pciBusID) \
  X(PciDeviceId, 34, p.pciDeviceID) \
  X(MemoryClockRate, 36, p.memoryClockRate) \
  X(GlobalMemoryBusWidth, 37, p.memoryBusWidth) \
  X(L2CacheSize, 38, p.l2CacheSize) \
  X(MaxThreadsPerMultiProcessor, 39, p.maxThreadsPerMultiProcessor) \
  X(AsyncEngineCount, 40, p.asyncEngineCount) \
  X(UnifiedAddressing, 41, p.unifiedAddressing) \
  X(PciDomainId, 50, p.pciDomainID) \
  X(ComputeCapabilityMajor, 75, p.major) \
  X(ComputeCapabilityMinor, 76, p.minor) \
  X(StreamPrioritiesSupported, 78, p.streamPrioritiesSupported) \
  X(GlobalL1CacheSupported, 79, p.globalL1CacheSupported) \
  X(LocalL1CacheSupported, 80, p.localL1CacheSupported) \
  X(MaxSharedMemoryPerMultiprocessor, 81, p.sharedMemPerMultiprocessor) \
  X(MaxRegistersPerMultiprocessor, 82, p.regsPerMultiprocessor) \
  X(ManagedMemory, 83, p.managedMemory) \
  X(HostNativeAtomicSupported, 86, p.hostNativeAtomicSupported) \
  X(SingleToDoublePrecisionPerfRatio, 87, p.singleToDoublePrecisionPerfRatio) \
  X(PageableMemoryAccess, 88, p.pageableMemoryAccess) \
  X(ConcurrentManagedAccess, 89, p.concurrentManagedAccess) \
  X(ComputePreemptionSupported, 90, p.computePreemptionSupported) \
  X(CanUseHostPointerForRegisteredMem, 91, p.canUseHostPointerForRegisteredMem) \
  X(CooperativeLaunch, 95, p.cooperativeLaunch) \
  X(MaxSharedMemoryPerBlockOptin, 97, p.sharedMemPerBlockOptin) \
  X(HostRegisterSupported, 99, p.hostRegisterSupported) \
  X(MaxBlocksPerMultiprocessor, 106, p.maxBlocksPerMultiProcessor) \
  X(MemoryPoolsSupported, 115, p.memoryPoolsSupported)
// clang-format on

enum cudaDeviceAttr {
#define CUDA_ON_CPU_ATTRIBUTE(name, number, value) cudaDevAttr##name = number,
  CUDA_ON_CPU_DEVICE_ATTRIBUTES(CUDA_ON_CPU_ATTRIBUTE)
#undef CUDA_ON_CPU_ATTRIBUTE
};

enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4
};
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};

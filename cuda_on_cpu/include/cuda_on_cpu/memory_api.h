/// @file
/// Memory in the runtime API, beyond the plain calls of cuda_runtime_api.h: boxes of pitched
/// memory, advice for managed memory, and pools. Of functions whose parameters CUDA 13 has changed,
/// both forms.
#pragma once

#include "../driver_types.h"
#include "place.h"

// Boxes
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent, CUDA_ON_CPU_HERE);
cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent, CUDA_ON_CPU_HERE);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters, CUDA_ON_CPU_HERE);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream = nullptr,
                              CUDA_ON_CPU_HERE);

// Managed memory: it is everywhere at once here, so that advice changes nothing. Still, what CUDA
// refuses is refused.
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                 cudaStream_t stream = nullptr, CUDA_ON_CPU_HERE);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream = nullptr,
                                 CUDA_ON_CPU_HERE);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          int device, CUDA_ON_CPU_HERE);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location, CUDA_ON_CPU_HERE);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes = 0,
                                     unsigned int flags = cudaMemAttachSingle);

// Pools: each allocation of a pool is one of its own; a pool keeps count of them.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaMallocFromPoolAsync(cuda_on_cpu::PointerTo pointer, std::size_t bytes,
                                    cudaMemPool_t pool, cudaStream_t stream, CUDA_ON_CPU_HERE);
cudaError_t cudaMallocAsync(cuda_on_cpu::PointerTo pointer, std::size_t bytes, cudaMemPool_t pool,
                            cudaStream_t stream, CUDA_ON_CPU_HERE);

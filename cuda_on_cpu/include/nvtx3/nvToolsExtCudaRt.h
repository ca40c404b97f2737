/// @file
/// Names that NVIDIA's profilers show for devices, streams and events.
#pragma once

#include "../driver_types.h"
#include "nvToolsExt.h"

inline void nvtxNameCudaDeviceA(int /*device*/, const char* /*name*/) {}
inline void nvtxNameCudaStreamA(cudaStream_t /*stream*/, const char* /*name*/) {}
inline void nvtxNameCudaEventA(cudaEvent_t /*event*/, const char* /*name*/) {}
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA

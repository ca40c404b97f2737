/// @file
/// What nvcc includes by itself, and what it defines: for programs that are compiled as nvcc would.
#pragma once

#include <cuda_runtime.h>
#include <texture_types.h>

// After the standard headers that the runtime includes, which know nvcc and leave things out for
// it.
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1

// What headers of NVIDIA's samples look for to know which of the toolkit's headers are there.
#ifndef __DRIVER_TYPES_H__
#define __DRIVER_TYPES_H__
#endif
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__
#endif
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__
#endif

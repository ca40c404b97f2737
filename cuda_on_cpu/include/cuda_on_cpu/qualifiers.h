/// @file
/// The qualifiers of CUDA say where code runs and where data are; here everything is on the CPU. The translator
/// makes something else of __shared__ and __noinline__. The latter cannot be a macro, since the standard library uses
/// that very word in its attributes.
#pragma once

#ifdef CUDA_ON_CPU_PREPROCESSING  // for the translator, which is to see the words
#define __global__ __global__
#define __device__ __device__
#define __host__ __host__
#define __constant__ __constant__
#define __managed__ __managed__
#define __grid_constant__ __grid_constant__
#define __forceinline__ __forceinline__
#define __launch_bounds__(...) __launch_bounds__(__VA_ARGS__)
#else
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#ifdef CUDA_ON_CPU_LOCALS
#include "cuda_on_cpu/locals.h"
#define CUDA_ON_CPU_LOCAL(name, may_lack_shared)                                                     \
  {                                                                                                  \
    static ::cuda_on_cpu::Local cuda_on_cpu_local = {#name, __FILE__, __LINE__, may_lack_shared, 0}; \
    ::cuda_on_cpu::begin_local(cuda_on_cpu_local, name);                                             \
  }
#else
#define CUDA_ON_CPU_LOCAL(...)
#endif
#endif
// AddressSanitizer looks after variables that have no section of their own.
#ifdef __SANITIZE_ADDRESS__
#define CUDA_ON_CPU_SECTION(name)
#else
#define CUDA_ON_CPU_SECTION(name) __attribute__((section(name)))
#endif
#define __align__(n) alignas(n)
#define __builtin_align__(n) alignas(n)

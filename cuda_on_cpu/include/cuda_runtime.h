/// @file
/// CUDA on the CPU: found instead of NVIDIA's header of this name where there is no CUDA toolkit.
/// The other headers of this folder have the names and the parts that they have in the toolkit.
#pragma once

/// Tells CUDA on the CPU from nvcc, which defines __CUDACC__.
#define CUDA_ON_CPU 1

// The qualifiers say where code runs and where data are; here everything is on the CPU. The build
// translates __shared__, so what is left of it is an error. There is no __noinline__: the standard
// library uses that very word in its attributes.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

#include "vector_types.h"
#include "driver_types.h"
#include "cuda_runtime_api.h"
#include "cuda_on_cpu/kernel.hpp"
#include "cuda_on_cpu/function_api.h"
#include "device_functions.h"

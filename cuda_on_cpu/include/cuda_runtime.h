/// @file
/// CUDA on the CPU: found instead of NVIDIA's header of this name where there is no CUDA toolkit.
/// The other headers of this folder have the names and the parts that they have in the toolkit.
#pragma once

/// Tells CUDA on the CPU from nvcc, which defines __CUDACC__.
#define CUDA_ON_CPU 1

#include "cuda_on_cpu/qualifiers.h"

#include "vector_types.h"
#include "driver_types.h"
#include "cuda_runtime_api.h"
#include "cuda_on_cpu/kernel.hpp"
#include "cuda_on_cpu/function_api.h"
#include "device_functions.h"
#include "cuda_on_cpu/matrix_registers.h"

/// @file
/// Numbers in half precision, __half, and pairs of them, __half2.
#pragma once

#include "cuda_on_cpu/small_float_pair.h"
#include "cuda_runtime.h"

using __half = cuda_on_cpu::SmallFloat<cuda_on_cpu::Binary16>;
using __half2 = cuda_on_cpu::SmallFloatPair<cuda_on_cpu::Binary16>;
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

CUDA_ON_CPU_SMALL_FLOAT(half, half2, __half, __half2)

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)

/// @file
/// Floats without their last 16 bits, __nv_bfloat16, and pairs of them, __nv_bfloat162.
#pragma once

#include "cuda_on_cpu/small_float_pair.h"
#include "cuda_runtime.h"

using __nv_bfloat16 = cuda_on_cpu::SmallFloat<cuda_on_cpu::Brain16>;
using __nv_bfloat162 = cuda_on_cpu::SmallFloatPair<cuda_on_cpu::Brain16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

CUDA_ON_CPU_SMALL_FLOAT(bfloat16, bfloat162, __nv_bfloat16, __nv_bfloat162)

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)

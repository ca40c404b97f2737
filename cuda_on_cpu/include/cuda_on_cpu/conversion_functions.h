/// @file
/// Conversions between numbers with a rounding of one's choice, and between numbers and their bits.
#pragma once

#include "cuda_on_cpu/rounding.h"
#include "cuda_on_cpu/warp_functions.h"  // to_bits()

// For each rounding: to and from the integer types, and from double to float.
#define CUDA_ON_CPU_TO_INTEGER(Integer, from, to, mode, rounding)                \
  inline Integer __float2##to##_##mode(float x) {                                \
    return cuda_on_cpu::to_integer<Integer, cuda_on_cpu::Rounding::rounding>(x); \
  }                                                                              \
  inline Integer __double2##to##_##mode(double x) {                              \
    return cuda_on_cpu::to_integer<Integer, cuda_on_cpu::Rounding::rounding>(x); \
  }                                                                              \
  inline float __##from##2float_##mode(Integer x) {                              \
    return cuda_on_cpu::from_integer<float, cuda_on_cpu::Rounding::rounding>(x); \
  }
#define CUDA_ON_CPU_CONVERSIONS(mode, rounding)                                   \
  CUDA_ON_CPU_TO_INTEGER(int, int, int, mode, rounding)                           \
  CUDA_ON_CPU_TO_INTEGER(unsigned, uint, uint, mode, rounding)                    \
  CUDA_ON_CPU_TO_INTEGER(long long, ll, ll, mode, rounding)                       \
  CUDA_ON_CPU_TO_INTEGER(unsigned long long, ull, ull, mode, rounding)            \
  inline double __ll2double_##mode(long long x) {                                 \
    return cuda_on_cpu::from_integer<double, cuda_on_cpu::Rounding::rounding>(x); \
  }                                                                               \
  inline double __ull2double_##mode(unsigned long long x) {                       \
    return cuda_on_cpu::from_integer<double, cuda_on_cpu::Rounding::rounding>(x); \
  }                                                                               \
  inline float __double2float_##mode(double x) { return cuda_on_cpu::to_float<cuda_on_cpu::Rounding::rounding>(x); }
CUDA_ON_CPU_CONVERSIONS(rn, nearest)
CUDA_ON_CPU_CONVERSIONS(rz, zero)
CUDA_ON_CPU_CONVERSIONS(ru, up)
CUDA_ON_CPU_CONVERSIONS(rd, down)
#undef CUDA_ON_CPU_CONVERSIONS
#undef CUDA_ON_CPU_TO_INTEGER

inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

inline int __float_as_int(float x) { return cuda_on_cpu::from_bits<int>(cuda_on_cpu::to_bits(x)); }
inline unsigned __float_as_uint(float x) { return cuda_on_cpu::from_bits<unsigned>(cuda_on_cpu::to_bits(x)); }
inline float __int_as_float(int x) { return cuda_on_cpu::from_bits<float>(cuda_on_cpu::to_bits(x)); }
inline float __uint_as_float(unsigned x) { return cuda_on_cpu::from_bits<float>(cuda_on_cpu::to_bits(x)); }
inline long long __double_as_longlong(double x) { return cuda_on_cpu::from_bits<long long>(cuda_on_cpu::to_bits(x)); }
inline double __longlong_as_double(long long x) { return cuda_on_cpu::from_bits<double>(cuda_on_cpu::to_bits(x)); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32U | static_cast<unsigned>(low)));
}

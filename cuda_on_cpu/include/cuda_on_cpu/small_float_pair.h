/// @file
/// Two numbers of 16 bits side by side: what __half2 and __nv_bfloat162 have in common.
#pragma once

#include "cuda_on_cpu/small_float.h"
#include "vector_types.h"

namespace cuda_on_cpu {

/// The pair, with the functions that are found by the types of their arguments.
template <class Format>
struct alignas(4) SmallFloatPair {
  using Number = SmallFloat<Format>;

  Number x;
  Number y;

  SmallFloatPair() = default;
  SmallFloatPair(const Number& first, const Number& second) : x(first), y(second) {}

  friend SmallFloatPair operator+(const SmallFloatPair& a) { return a; }
  friend SmallFloatPair operator-(const SmallFloatPair& a) { return {-a.x, -a.y}; }
  friend SmallFloatPair& operator++(SmallFloatPair& a) { return ++a.x, ++a.y, a; }
  friend SmallFloatPair& operator--(SmallFloatPair& a) { return --a.x, --a.y, a; }
  friend SmallFloatPair __hneg2(SmallFloatPair a) { return -a; }
  friend SmallFloatPair __habs2(SmallFloatPair a) { return {__habs(a.x), __habs(a.y)}; }
  friend SmallFloatPair __hisnan2(SmallFloatPair a) {
    return {Number(__hisnan(a.x) ? 1 : 0), Number(__hisnan(a.y) ? 1 : 0)};
  }
  friend float __low2float(SmallFloatPair a) { return a.x; }
  friend float __high2float(SmallFloatPair a) { return a.y; }
  friend SmallFloatPair atomicAdd(SmallFloatPair* address, SmallFloatPair value) {
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
  }

#define CUDA_ON_CPU_BINARY(name, of_number) \
  friend SmallFloatPair name(SmallFloatPair a, SmallFloatPair b) { return {of_number(a.x, b.x), of_number(a.y, b.y)}; }
#define CUDA_ON_CPU_OPERATOR(sign, name, of_number)                                       \
  CUDA_ON_CPU_BINARY(name, of_number)                                                     \
  friend SmallFloatPair operator sign(const SmallFloatPair& a, const SmallFloatPair& b) { \
    return {of_number(a.x, b.x), of_number(a.y, b.y)};                                    \
  }                                                                                       \
  friend SmallFloatPair& operator sign##=(SmallFloatPair& a, const SmallFloatPair& b) { return a = a sign b; }
  CUDA_ON_CPU_OPERATOR(+, __hadd2, __hadd)
  CUDA_ON_CPU_OPERATOR(-, __hsub2, __hsub)
  CUDA_ON_CPU_OPERATOR(*, __hmul2, __hmul)
  CUDA_ON_CPU_OPERATOR(/, __h2div, __hdiv)
  CUDA_ON_CPU_BINARY(__hadd2_rn, __hadd)
  CUDA_ON_CPU_BINARY(__hsub2_rn, __hsub)
  CUDA_ON_CPU_BINARY(__hmul2_rn, __hmul)
  CUDA_ON_CPU_BINARY(__hadd2_sat, __hadd_sat)
  CUDA_ON_CPU_BINARY(__hsub2_sat, __hsub_sat)
  CUDA_ON_CPU_BINARY(__hmul2_sat, __hmul_sat)
  CUDA_ON_CPU_BINARY(__hmax2, __hmax)
  CUDA_ON_CPU_BINARY(__hmin2, __hmin)
#undef CUDA_ON_CPU_OPERATOR
#undef CUDA_ON_CPU_BINARY

#define CUDA_ON_CPU_FUSED(name, of_number)                                           \
  friend SmallFloatPair name(SmallFloatPair a, SmallFloatPair b, SmallFloatPair c) { \
    return {of_number(a.x, b.x, c.x), of_number(a.y, b.y, c.y)};                     \
  }
  CUDA_ON_CPU_FUSED(__hfma2, __hfma)
  CUDA_ON_CPU_FUSED(__hfma2_sat, __hfma_sat)
#undef CUDA_ON_CPU_FUSED

// 1 or 0 for each, a mask for each, or whether it holds for both.
#define CUDA_ON_CPU_COMPARISON(of_number, each, both)                                       \
  friend SmallFloatPair each(SmallFloatPair a, SmallFloatPair b) {                          \
    return {Number(of_number(a.x, b.x) ? 1 : 0), Number(of_number(a.y, b.y) ? 1 : 0)};      \
  }                                                                                         \
  friend unsigned each##_mask(SmallFloatPair a, SmallFloatPair b) {                         \
    return (of_number(a.x, b.x) ? 0xffffU : 0U) | (of_number(a.y, b.y) ? 0xffff0000U : 0U); \
  }                                                                                         \
  friend bool both(SmallFloatPair a, SmallFloatPair b) { return of_number(a.x, b.x) && of_number(a.y, b.y); }
// With a u at the end, of what cannot be compared, too.
#define CUDA_ON_CPU_COMPARISONS(sign, name, both)                     \
  CUDA_ON_CPU_COMPARISON(__h##name, __h##name##2, __hb##name##2)      \
  CUDA_ON_CPU_COMPARISON(__h##name##u, __h##name##u2, __hb##name##u2) \
  friend bool operator sign(const SmallFloatPair& a, const SmallFloatPair& b) { return both(a, b); }
  CUDA_ON_CPU_COMPARISONS(==, eq, __hbeq2)
  CUDA_ON_CPU_COMPARISONS(!=, ne, __hbneu2)
  CUDA_ON_CPU_COMPARISONS(<, lt, __hblt2)
  CUDA_ON_CPU_COMPARISONS(<=, le, __hble2)
  CUDA_ON_CPU_COMPARISONS(>, gt, __hbgt2)
  CUDA_ON_CPU_COMPARISONS(>=, ge, __hbge2)
#undef CUDA_ON_CPU_COMPARISONS
#undef CUDA_ON_CPU_COMPARISON

#define CUDA_ON_CPU_FUNCTION(name, expression) \
  friend SmallFloatPair h2##name(SmallFloatPair a) { return {h##name(a.x), h##name(a.y)}; }
  CUDA_ON_CPU_SMALL_FLOAT_FUNCTIONS(CUDA_ON_CPU_FUNCTION)
#undef CUDA_ON_CPU_FUNCTION
};

}  // namespace cuda_on_cpu

// Conversions, whose names have the type's in them: `half` is half or bfloat16, `half2` half2 or
// bfloat162.
#define CUDA_ON_CPU_SMALL_FLOAT_OF_INTEGER(Integer, name, half, T, mode, rounding)      \
  inline T __##name##2##half##_##mode(Integer x) {                                      \
    using namespace cuda_on_cpu;                                                        \
    return T::of_bits(encode<T::Layout, Rounding::rounding>(odd_double(x)));            \
  }                                                                                     \
  inline Integer __##half##2##name##_##mode(T x) {                                      \
    return cuda_on_cpu::to_integer<Integer, cuda_on_cpu::Rounding::rounding>(x.wide()); \
  }
#define CUDA_ON_CPU_SMALL_FLOAT_ROUNDED(half, T, mode, rounding)                       \
  CUDA_ON_CPU_SMALL_FLOAT_OF_INTEGER(short, short, half, T, mode, rounding)            \
  CUDA_ON_CPU_SMALL_FLOAT_OF_INTEGER(unsigned short, ushort, half, T, mode, rounding)  \
  CUDA_ON_CPU_SMALL_FLOAT_OF_INTEGER(int, int, half, T, mode, rounding)                \
  CUDA_ON_CPU_SMALL_FLOAT_OF_INTEGER(unsigned, uint, half, T, mode, rounding)          \
  CUDA_ON_CPU_SMALL_FLOAT_OF_INTEGER(long long, ll, half, T, mode, rounding)           \
  CUDA_ON_CPU_SMALL_FLOAT_OF_INTEGER(unsigned long long, ull, half, T, mode, rounding) \
  inline T __float2##half##_##mode(float x) {                                          \
    using namespace cuda_on_cpu;                                                       \
    return T::of_bits(encode<T::Layout, Rounding::rounding>(static_cast<double>(x)));  \
  }
#define CUDA_ON_CPU_SMALL_FLOAT(half, half2, T, T2)                                          \
  CUDA_ON_CPU_SMALL_FLOAT_ROUNDED(half, T, rn, nearest)                                      \
  CUDA_ON_CPU_SMALL_FLOAT_ROUNDED(half, T, rz, zero)                                         \
  CUDA_ON_CPU_SMALL_FLOAT_ROUNDED(half, T, ru, up)                                           \
  CUDA_ON_CPU_SMALL_FLOAT_ROUNDED(half, T, rd, down)                                         \
  inline T __double2##half(double x) { return x; }                                           \
  inline T __float2##half(float x) { return x; }                                             \
  inline float __##half##2float(T x) { return x; }                                           \
  inline short __##half##_as_short(T x) { return static_cast<short>(x.bits); }               \
  inline unsigned short __##half##_as_ushort(T x) { return x.bits; }                         \
  inline T __short_as_##half(short x) { return T::of_bits(static_cast<unsigned short>(x)); } \
  inline T __ushort_as_##half(unsigned short x) { return T::of_bits(x); }                    \
  inline T2 __float2##half2##_rn(float x) { return {T(x), T(x)}; }                           \
  inline T2 __floats2##half2##_rn(float x, float y) { return {T(x), T(y)}; }                 \
  inline T2 __float22##half2##_rn(float2 x) { return {T(x.x), T(x.y)}; }                     \
  inline float2 __##half2##2float2(T2 x) { return {x.x, x.y}; }                              \
  inline T2 __##half##2##half2(T x) { return {x, x}; }                                       \
  inline T2 __halves2##half2(T x, T y) { return {x, y}; }                                    \
  inline T2 __lows2##half2(T2 a, T2 b) { return {a.x, b.x}; }                                \
  inline T2 __highs2##half2(T2 a, T2 b) { return {a.y, b.y}; }                               \
  inline T2 __low2##half2(T2 a) { return {a.x, a.x}; }                                       \
  inline T2 __high2##half2(T2 a) { return {a.y, a.y}; }                                      \
  inline T __low2##half(T2 a) { return a.x; }                                                \
  inline T __high2##half(T2 a) { return a.y; }                                               \
  inline T2 make_##half2(T x, T y) { return {x, y}; }

/// @file
/// Floating-point numbers of 16 bits: what __half and __nv_bfloat16 have in common. Each operation
/// is computed in double and rounded once, to nearest even if not told otherwise.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuda_on_cpu/atomic_functions.h"
#include "cuda_on_cpu/rounding.h"

// What both numbers and pairs have: hsqrt() and h2sqrt(), and so on, computed of x in double.
// clang-format off
#define CUDA_ON_CPU_SMALL_FLOAT_FUNCTIONS(X) \
  X(sqrt, std::sqrt(x)) \
  X(rsqrt, 1 / std::sqrt(x)) \
  X(rcp, 1 / x) \
  X(exp, std::exp(x)) \
  X(exp2, std::exp2(x)) \
  X(exp10, std::pow(10.0, x)) \
  X(log, std::log(x)) \
  X(log2, std::log2(x)) \
  X(log10, std::log10(x)) \
  X(sin, std::sin(x)) \
  X(cos, std::cos(x)) \
  X(tanh, std::tanh(x)) \
  X(tanh_approx, std::tanh(x)) \
  X(trunc, std::trunc(x)) \
  X(ceil, std::ceil(x)) \
  X(floor, std::floor(x)) \
  X(rint, std::nearbyint(x))
// clang-format on

namespace cuda_on_cpu {

/// IEEE 754's half precision.
struct Binary16 {
  static constexpr int exponent_bits = 5;
  static constexpr int fraction_bits = 10;
};
/// A float without its 16 last bits.
struct Brain16 {
  static constexpr int exponent_bits = 8;
  static constexpr int fraction_bits = 7;
};

/// The bits of the number next to x in the direction of the rounding.
/// @param x made odd, if it is not exact.
template <class Format, Rounding rounding = Rounding::nearest>
std::uint16_t encode(double x) {
  constexpr int fraction_bits = Format::fraction_bits;
  constexpr int bias = (1 << (Format::exponent_bits - 1)) - 1;
  constexpr std::int64_t infinity = ((std::int64_t{1} << Format::exponent_bits) - 1) << fraction_bits;
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 63U << 15U);
  if (std::isnan(x)) return 0x7fff;
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | infinity);
  const int exponent = static_cast<int>(bits >> 52U & 0x7ffU) - 1023;
  if (exponent == -1023) bits = bits << 12U == 0 ? 0 : 1;  // so small that its size is no matter
  const std::uint64_t significand =
      (bits & ((std::uint64_t{1} << 52U) - 1)) | (exponent > -1023 ? std::uint64_t{1} << 52U : 0);
  const int below = exponent < 1 - bias ? 1 - bias - exponent : 0;
  const int shift = 52 - fraction_bits + below > 63 ? 63 : 52 - fraction_bits + below;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  std::uint64_t kept = significand >> shift;
  const bool away = rounding == Rounding::up ? sign == 0 : sign != 0;  // if up or down
  if (rounding == Rounding::nearest) {
    kept += rest > half || (rest == half && (kept & 1U) != 0) ? 1 : 0;
  } else if (rounding != Rounding::zero && away && rest != 0) {
    ++kept;
  }
  const std::int64_t above = below > 0 ? 0 : exponent + bias - 1;
  std::int64_t result = (above << fraction_bits) + static_cast<std::int64_t>(kept);
  if (result >= infinity) {
    result = rounding == Rounding::nearest || (rounding != Rounding::zero && away) ? infinity : infinity - 1;
  }
  return static_cast<std::uint16_t>(sign | result);
}

template <class Format>
float decode(std::uint16_t number) {
  constexpr unsigned fraction_bits = Format::fraction_bits;
  constexpr unsigned bias = (1U << (Format::exponent_bits - 1)) - 1;
  constexpr unsigned largest = (1U << Format::exponent_bits) - 1;
  const unsigned sign = (number & 0x8000U) << 16U;
  const unsigned exponent = number >> fraction_bits & largest;
  const unsigned fraction = number & ((1U << fraction_bits) - 1);
  unsigned bits = sign | fraction << (23 - fraction_bits);
  if (exponent == largest) {
    bits |= 0x7f800000U;
  } else if (exponent != 0) {
    bits |= (exponent + 127 - bias) << 23U;
  } else {
    const double value = std::ldexp(fraction, 1 - static_cast<int>(bias + fraction_bits));
    return static_cast<float>(sign != 0 ? -value : value);
  }
  float value = 0;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// An integer as a double that shows whether it is exact.
template <class Integer>
double odd_double(Integer x) {
  const auto nearest = static_cast<double>(x);
  const auto error = static_cast<__int128_t>(x) - static_cast<__int128_t>(nearest);
  return made_odd({nearest, error > 0 ? 1.0 : (error < 0 ? -1.0 : 0.0)});
}

/// The number, with the functions that are found by the types of their arguments.
template <class Format>
struct SmallFloat {
  using Layout = Format;

  std::uint16_t bits;

  SmallFloat() = default;
  SmallFloat(float x) : bits(encode<Format>(static_cast<double>(x))) {}
  SmallFloat(double x) : bits(encode<Format>(x)) {}
  SmallFloat(short x) : SmallFloat(static_cast<double>(x)) {}
  SmallFloat(unsigned short x) : SmallFloat(static_cast<double>(x)) {}
  SmallFloat(int x) : SmallFloat(static_cast<double>(x)) {}
  SmallFloat(unsigned x) : SmallFloat(static_cast<double>(x)) {}
  SmallFloat(long x) : SmallFloat(odd_double(x)) {}
  SmallFloat(unsigned long x) : SmallFloat(odd_double(x)) {}
  SmallFloat(long long x) : SmallFloat(odd_double(x)) {}
  SmallFloat(unsigned long long x) : SmallFloat(odd_double(x)) {}
  operator float() const { return decode<Format>(bits); }

  static SmallFloat of_bits(unsigned number) {
    SmallFloat result;
    result.bits = static_cast<std::uint16_t>(number);
    return result;
  }
  double wide() const { return static_cast<double>(decode<Format>(bits)); }

  friend SmallFloat operator+(const SmallFloat& a) { return a; }
  friend SmallFloat operator-(const SmallFloat& a) { return of_bits(a.bits ^ 0x8000U); }
  friend SmallFloat& operator++(SmallFloat& a) { return a = a + SmallFloat(1.0F); }
  friend SmallFloat& operator--(SmallFloat& a) { return a = a - SmallFloat(1.0F); }
  friend SmallFloat operator++(SmallFloat& a, int) {
    const SmallFloat before = a;
    ++a;
    return before;
  }
  friend SmallFloat operator--(SmallFloat& a, int) {
    const SmallFloat before = a;
    --a;
    return before;
  }

  friend SmallFloat __hneg(SmallFloat a) { return -a; }
  friend SmallFloat __habs(SmallFloat a) { return of_bits(a.bits & 0x7fffU); }
  friend SmallFloat __hfma(SmallFloat a, SmallFloat b, SmallFloat c) { return fused_once(a, b, c); }
  friend SmallFloat __hfma_sat(SmallFloat a, SmallFloat b, SmallFloat c) { return saturated(fused_once(a, b, c)); }

  friend bool __hisnan(SmallFloat a) { return std::isnan(a.wide()); }
  friend int __hisinf(SmallFloat a) { return std::isinf(a.wide()) ? ((a.bits & 0x8000U) != 0 ? -1 : 1) : 0; }
  friend SmallFloat __hmax(SmallFloat a, SmallFloat b) {
    return a.wide() == b.wide() ? of_bits(a.bits & b.bits) : SmallFloat(std::fmax(a.wide(), b.wide()));
  }
  friend SmallFloat __hmin(SmallFloat a, SmallFloat b) {
    return a.wide() == b.wide() ? of_bits(a.bits | b.bits) : SmallFloat(std::fmin(a.wide(), b.wide()));
  }
  friend SmallFloat __hmax_nan(SmallFloat a, SmallFloat b) { return unordered(a, b) ? of_bits(0x7fff) : __hmax(a, b); }
  friend SmallFloat __hmin_nan(SmallFloat a, SmallFloat b) { return unordered(a, b) ? of_bits(0x7fff) : __hmin(a, b); }

  friend SmallFloat atomicAdd(SmallFloat* address, SmallFloat value) {
    return atomic_update(address, [value](SmallFloat old) { return old + value; });
  }

#define CUDA_ON_CPU_OPERATOR(sign, name)                                                                       \
  friend SmallFloat name(SmallFloat a, SmallFloat b) { return a.wide() sign b.wide(); }                        \
  friend SmallFloat name##_rn(SmallFloat a, SmallFloat b) { return a.wide() sign b.wide(); }                   \
  friend SmallFloat name##_sat(SmallFloat a, SmallFloat b) { return saturated(a.wide() sign b.wide()); }       \
  friend SmallFloat operator sign(const SmallFloat& a, const SmallFloat& b) { return a.wide() sign b.wide(); } \
  friend SmallFloat& operator sign##=(SmallFloat& a, const SmallFloat& b) { return a = a sign b; }
  CUDA_ON_CPU_OPERATOR(+, __hadd)
  CUDA_ON_CPU_OPERATOR(-, __hsub)
  CUDA_ON_CPU_OPERATOR(*, __hmul)
  CUDA_ON_CPU_OPERATOR(/, __hdiv)
#undef CUDA_ON_CPU_OPERATOR

// The forms with a u are true of what cannot be compared, a NaN.
#define CUDA_ON_CPU_COMPARISON(sign, name)                                                              \
  friend bool name(SmallFloat a, SmallFloat b) { return !unordered(a, b) && a.wide() sign b.wide(); }   \
  friend bool name##u(SmallFloat a, SmallFloat b) { return unordered(a, b) || a.wide() sign b.wide(); } \
  friend bool operator sign(const SmallFloat& a, const SmallFloat& b) { return a.wide() sign b.wide(); }
  CUDA_ON_CPU_COMPARISON(==, __heq)
  CUDA_ON_CPU_COMPARISON(!=, __hne)
  CUDA_ON_CPU_COMPARISON(<, __hlt)
  CUDA_ON_CPU_COMPARISON(<=, __hle)
  CUDA_ON_CPU_COMPARISON(>, __hgt)
  CUDA_ON_CPU_COMPARISON(>=, __hge)
#undef CUDA_ON_CPU_COMPARISON

#define CUDA_ON_CPU_FUNCTION(name, expression)  \
  friend SmallFloat h##name(SmallFloat a) {     \
    [[maybe_unused]] const double x = a.wide(); \
    return static_cast<double>(expression);     \
  }
  CUDA_ON_CPU_SMALL_FLOAT_FUNCTIONS(CUDA_ON_CPU_FUNCTION)
#undef CUDA_ON_CPU_FUNCTION

 private:
  static bool unordered(SmallFloat a, SmallFloat b) { return std::isnan(a.wide()) || std::isnan(b.wide()); }
  static double saturated(double x) { return x > 0 ? (x < 1 ? x : 1.0) : 0.0; }
  static SmallFloat fused_once(SmallFloat a, SmallFloat b, SmallFloat c) {
    return made_odd(exact_sum(a.wide() * b.wide(), c.wide()));  // the product is exact
  }
};

}  // namespace cuda_on_cpu

/// @file
/// Mathematics. The fast functions are the exact ones here.
#pragma once

#include <cmath>

#include <math.h>  // with the overloads for float at global scope, as CUDA has them

#include "cuda_on_cpu/rounding.h"

// The C library declares some of these names for itself, without defining them; hence the language
// linkage.
extern "C" {
#define CUDA_ON_CPU_FAST(name, exact)   \
  inline float name(float x) noexcept { \
    return std::exact(x);               \
  }
CUDA_ON_CPU_FAST(__expf, exp)
CUDA_ON_CPU_FAST(__logf, log)
CUDA_ON_CPU_FAST(__log2f, log2)
CUDA_ON_CPU_FAST(__log10f, log10)
CUDA_ON_CPU_FAST(__sinf, sin)
CUDA_ON_CPU_FAST(__cosf, cos)
CUDA_ON_CPU_FAST(__tanf, tan)
CUDA_ON_CPU_FAST(__tanhf, tanh)
#undef CUDA_ON_CPU_FAST
inline float __exp10f(float x) noexcept {
  return std::pow(10.0F, x);
}
inline float __powf(float x, float y) noexcept {
  return std::pow(x, y);
}
}
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float __saturatef(float x) {
  return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;
}
inline float rsqrtf(float x) {
  return 1 / std::sqrt(x);
}
inline double rsqrt(double x) {
  return 1 / std::sqrt(x);
}
inline float rsqrt(float x) {
  return 1 / std::sqrt(x);
}
// Modified Bessel functions of the first kind; the standard's know no negative x.
inline double cyl_bessel_i0(double x) {
  return std::cyl_bessel_i(0.0, std::fabs(x));
}
inline float cyl_bessel_i0f(float x) {
  return std::cyl_bessel_i(0.0F, std::fabs(x));
}
inline double cyl_bessel_i1(double x) {
  return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x);
}
inline float cyl_bessel_i1f(float x) {
  return std::copysign(std::cyl_bessel_i(1.0F, std::fabs(x)), x);
}
inline float rcbrtf(float x) {
  return 1 / std::cbrt(x);
}
inline float __frsqrt_rn(float x) {
  return rsqrtf(x);
}

#define CUDA_ON_CPU_MIN_MAX(T, smaller, larger) \
  constexpr T smaller(T a, T b) {               \
    return b < a ? b : a;                       \
  }                                             \
  constexpr T larger(T a, T b) {                \
    return a < b ? b : a;                       \
  }
CUDA_ON_CPU_MIN_MAX(int, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned, min, max)
CUDA_ON_CPU_MIN_MAX(long, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned long, min, max)
CUDA_ON_CPU_MIN_MAX(long long, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned long long, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned, umin, umax)
CUDA_ON_CPU_MIN_MAX(long long, llmin, llmax)
CUDA_ON_CPU_MIN_MAX(unsigned long long, ullmin, ullmax)
#undef CUDA_ON_CPU_MIN_MAX
#define CUDA_ON_CPU_MIXED_MIN_MAX(A, B, T)            \
  constexpr T min(A a, B b) {                         \
    return min(static_cast<T>(a), static_cast<T>(b)); \
  }                                                   \
  constexpr T max(A a, B b) {                         \
    return max(static_cast<T>(a), static_cast<T>(b)); \
  }
CUDA_ON_CPU_MIXED_MIN_MAX(int, unsigned, unsigned)
CUDA_ON_CPU_MIXED_MIN_MAX(unsigned, int, unsigned)
CUDA_ON_CPU_MIXED_MIN_MAX(long, unsigned long, unsigned long)
CUDA_ON_CPU_MIXED_MIN_MAX(unsigned long, long, unsigned long)
CUDA_ON_CPU_MIXED_MIN_MAX(long long, unsigned long long, unsigned long long)
CUDA_ON_CPU_MIXED_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef CUDA_ON_CPU_MIXED_MIN_MAX
#define CUDA_ON_CPU_FLOAT_MIN_MAX(A, B, T)                  \
  inline T min(A a, B b) {                                  \
    return std::fmin(static_cast<T>(a), static_cast<T>(b)); \
  }                                                         \
  inline T max(A a, B b) {                                  \
    return std::fmax(static_cast<T>(a), static_cast<T>(b)); \
  }
CUDA_ON_CPU_FLOAT_MIN_MAX(float, float, float)
CUDA_ON_CPU_FLOAT_MIN_MAX(double, double, double)
CUDA_ON_CPU_FLOAT_MIN_MAX(float, double, double)
CUDA_ON_CPU_FLOAT_MIN_MAX(double, float, double)
#undef CUDA_ON_CPU_FLOAT_MIN_MAX

namespace cuda_on_cpu {

constexpr double pi = 3.14159265358979323846;

/// The remainder of x by 2, where a sine of pi times it is exact at multiples of a half.
inline double sine_of_pi_times(double x) {
  const double rest = std::fmod(x, 2.0);
  if (rest == std::trunc(rest)) return std::copysign(0.0, x);
  const double half = std::fabs(rest) > 1 ? std::fabs(rest) - 1 : std::fabs(rest);
  const double sine = std::sin(pi * (half > 0.5 ? 1 - half : half));
  return (std::fabs(rest) > 1) != (rest < 0) ? -sine : sine;
}
inline double cosine_of_pi_times(double x) {
  const double rest = std::fmod(std::fabs(x), 2.0);
  return rest == 0.5 || rest == 1.5 ? 0.0 : std::cos(pi * rest);
}
/// Newton's method, from an approximation by S. Winitzki.
inline double inverse_erfc(double x) {
  if (!(x > 0 && x < 2)) return x == 0 ? HUGE_VAL : (x == 2 ? -HUGE_VAL : NAN);
  if (x > 1) return -inverse_erfc(2 - x);
  const double logarithm = std::log(x * (2 - x));
  const double w = logarithm / 2 + 2 / (pi * 0.147);
  double y = std::sqrt(std::fmax(std::sqrt(w * w - logarithm / 0.147) - w, 0.0));
  for (int i = 0; i < 6; ++i) {
    // Of the logarithm, which is nearly a parabola.
    const double value = std::erfc(y);
    y += std::log(value / x) * value / (2 / std::sqrt(pi) * std::exp(-y * y));
  }
  return y;
}
inline double inverse_erf(double x) {
  if (!(std::fabs(x) < 0.5)) return std::copysign(inverse_erfc(1 - std::fabs(x)), x);
  double y = x * std::sqrt(pi) / 2;
  for (int i = 0; i < 6; ++i) y -= (std::erf(y) - x) / (2 / std::sqrt(pi) * std::exp(-y * y));
  return y;
}
/// exp(x * x) * erfc(x): where both factors leave the range, the first terms of a continued
/// fraction.
inline double scaled_erfc(double x) {
  if (x < 20) return std::exp(x * x) * std::erfc(x);
  const double square = 2 * x * x;
  return 1 / (x * std::sqrt(pi)) * (1 - 1 / square * (1 - 3 / square * (1 - 5 / square)));
}

}  // namespace cuda_on_cpu

// What the C library does not have: for double, and for float by way of double.
#define CUDA_ON_CPU_FUNCTION(name, expression)               \
  inline double name(double x) {                             \
    return expression;                                       \
  }                                                          \
  inline float name(float x) {                               \
    return static_cast<float>(name(static_cast<double>(x))); \
  }                                                          \
  inline float name##f(float x) {                            \
    return name(x);                                          \
  }
CUDA_ON_CPU_FUNCTION(sinpi, cuda_on_cpu::sine_of_pi_times(x))
CUDA_ON_CPU_FUNCTION(cospi, cuda_on_cpu::cosine_of_pi_times(x))
CUDA_ON_CPU_FUNCTION(erfinv, cuda_on_cpu::inverse_erf(x))
CUDA_ON_CPU_FUNCTION(erfcinv, cuda_on_cpu::inverse_erfc(x))
CUDA_ON_CPU_FUNCTION(erfcx, cuda_on_cpu::scaled_erfc(x))
CUDA_ON_CPU_FUNCTION(normcdf, std::erfc(-x / std::sqrt(2.0)) / 2)
CUDA_ON_CPU_FUNCTION(normcdfinv, -std::sqrt(2.0) * cuda_on_cpu::inverse_erfc(2 * x))
#undef CUDA_ON_CPU_FUNCTION
inline double rcbrt(double x) {
  return 1 / std::cbrt(x);
}
inline float exp10(float x) {
  return exp10f(x);
}
inline void sincos(float x, float* sine, float* cosine) {
  sincosf(x, sine, cosine);
}
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline double rhypot(double x, double y) {
  return 1 / std::hypot(x, y);
}
inline float rhypotf(float x, float y) {
  return 1 / std::hypot(x, y);
}
inline double norm3d(double x, double y, double z) {
  return std::hypot(x, y, z);
}
inline float norm3df(float x, float y, float z) {
  return std::hypot(x, y, z);
}
// Arithmetic with a rounding of one's choice.
#define CUDA_ON_CPU_ROUNDED_ARITHMETIC(T, add_, sub_, mul_, div_, fma_, rcp_, sqrt_, mode) \
  inline T add_(T x, T y) {                                                                \
    return cuda_on_cpu::add<cuda_on_cpu::Rounding::mode>(x, y);                            \
  }                                                                                        \
  inline T sub_(T x, T y) {                                                                \
    return cuda_on_cpu::add<cuda_on_cpu::Rounding::mode>(x, -y);                           \
  }                                                                                        \
  inline T mul_(T x, T y) {                                                                \
    return cuda_on_cpu::multiply<cuda_on_cpu::Rounding::mode>(x, y);                       \
  }                                                                                        \
  inline T div_(T x, T y) {                                                                \
    return cuda_on_cpu::divide<cuda_on_cpu::Rounding::mode>(x, y);                         \
  }                                                                                        \
  inline T fma_(T x, T y, T z) {                                                           \
    return cuda_on_cpu::fused<cuda_on_cpu::Rounding::mode>(x, y, z);                       \
  }                                                                                        \
  inline T rcp_(T x) {                                                                     \
    return cuda_on_cpu::divide<cuda_on_cpu::Rounding::mode>(T(1), x);                      \
  }                                                                                        \
  inline T sqrt_(T x) {                                                                    \
    return cuda_on_cpu::square_root<cuda_on_cpu::Rounding::mode>(x);                       \
  }
#define CUDA_ON_CPU_ROUNDED(m, mode)                                                     \
  CUDA_ON_CPU_ROUNDED_ARITHMETIC(float, __fadd_##m, __fsub_##m, __fmul_##m, __fdiv_##m,  \
                                 __fmaf_##m, __frcp_##m, __fsqrt_##m, mode)              \
  CUDA_ON_CPU_ROUNDED_ARITHMETIC(double, __dadd_##m, __dsub_##m, __dmul_##m, __ddiv_##m, \
                                 __fma_##m, __drcp_##m, __dsqrt_##m, mode)
CUDA_ON_CPU_ROUNDED(rz, zero)
CUDA_ON_CPU_ROUNDED(ru, up)
CUDA_ON_CPU_ROUNDED(rd, down)
#undef CUDA_ON_CPU_ROUNDED
#undef CUDA_ON_CPU_ROUNDED_ARITHMETIC
#define CUDA_ON_CPU_NEAREST(T, add, sub, mul, div, fma_, rcp, sqrt_) \
  inline T add(T x, T y) {                                           \
    return x + y;                                                    \
  }                                                                  \
  inline T sub(T x, T y) {                                           \
    return x - y;                                                    \
  }                                                                  \
  inline T mul(T x, T y) {                                           \
    return x * y;                                                    \
  }                                                                  \
  inline T div(T x, T y) {                                           \
    return x / y;                                                    \
  }                                                                  \
  inline T fma_(T x, T y, T z) {                                     \
    return std::fma(x, y, z);                                        \
  }                                                                  \
  inline T rcp(T x) {                                                \
    return 1 / x;                                                    \
  }                                                                  \
  inline T sqrt_(T x) {                                              \
    return std::sqrt(x);                                             \
  }
CUDA_ON_CPU_NEAREST(float, __fadd_rn, __fsub_rn, __fmul_rn, __fdiv_rn, __fmaf_rn, __frcp_rn,
                    __fsqrt_rn)
CUDA_ON_CPU_NEAREST(double, __dadd_rn, __dsub_rn, __dmul_rn, __ddiv_rn, __fma_rn, __drcp_rn,
                    __dsqrt_rn)
#undef CUDA_ON_CPU_NEAREST

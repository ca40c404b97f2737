/// @file
/// Mathematics. The fast functions are the exact ones here.
#pragma once

#include <cmath>

#include <math.h>  // with the overloads for float at global scope, as CUDA has them

#include "cuda_on_cpu/rounding.h"

// The C library declares some of these names for itself, without defining them; hence the language
// linkage.
extern "C" {
#define CUDA_ON_CPU_FAST(name, exact) \
  inline float name(float x) noexcept { return std::exact(x); }
CUDA_ON_CPU_FAST(__expf, exp)
CUDA_ON_CPU_FAST(__logf, log)
CUDA_ON_CPU_FAST(__log2f, log2)
CUDA_ON_CPU_FAST(__log10f, log10)
CUDA_ON_CPU_FAST(__sinf, sin)
CUDA_ON_CPU_FAST(__cosf, cos)
CUDA_ON_CPU_FAST(__tanf, tan)
CUDA_ON_CPU_FAST(__tanhf, tanh)
#undef CUDA_ON_CPU_FAST
inline float __exp10f(float x) noexcept { return std::pow(10.0F, x); }
inline float __powf(float x, float y) noexcept { return std::pow(x, y); }
}
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F; }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float rsqrt(float x) { return 1 / std::sqrt(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }

#define CUDA_ON_CPU_MIN_MAX(A, B, T, smaller, larger)                                     \
  constexpr T smaller(A a, B b) {                                                         \
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a); \
  }                                                                                       \
  constexpr T larger(A a, B b) { return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a); }
CUDA_ON_CPU_MIN_MAX(int, int, int, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned, unsigned, unsigned, min, max)
CUDA_ON_CPU_MIN_MAX(long, long, long, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned long, unsigned long, unsigned long, min, max)
CUDA_ON_CPU_MIN_MAX(long long, long long, long long, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned, unsigned, unsigned, umin, umax)
CUDA_ON_CPU_MIN_MAX(long long, long long, long long, llmin, llmax)
CUDA_ON_CPU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long, ullmin, ullmax)
CUDA_ON_CPU_MIN_MAX(int, unsigned, unsigned, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned, int, unsigned, min, max)
CUDA_ON_CPU_MIN_MAX(long, unsigned long, unsigned long, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned long, long, unsigned long, min, max)
CUDA_ON_CPU_MIN_MAX(long long, unsigned long long, unsigned long long, min, max)
CUDA_ON_CPU_MIN_MAX(unsigned long long, long long, unsigned long long, min, max)
#undef CUDA_ON_CPU_MIN_MAX
#define CUDA_ON_CPU_FLOAT_MIN_MAX(A, B, T)                                           \
  inline T min(A a, B b) { return std::fmin(static_cast<T>(a), static_cast<T>(b)); } \
  inline T max(A a, B b) { return std::fmax(static_cast<T>(a), static_cast<T>(b)); }
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
#define CUDA_ON_CPU_FUNCTION(name, expression)                                            \
  inline double name(double x) { return expression; }                                     \
  inline float name(float x) { return static_cast<float>(name(static_cast<double>(x))); } \
  inline float name##f(float x) { return name(x); }
CUDA_ON_CPU_FUNCTION(sinpi, cuda_on_cpu::sine_of_pi_times(x))
CUDA_ON_CPU_FUNCTION(cospi, cuda_on_cpu::cosine_of_pi_times(x))
CUDA_ON_CPU_FUNCTION(erfinv, cuda_on_cpu::inverse_erf(x))
CUDA_ON_CPU_FUNCTION(erfcinv, cuda_on_cpu::inverse_erfc(x))
CUDA_ON_CPU_FUNCTION(erfcx, cuda_on_cpu::scaled_erfc(x))
CUDA_ON_CPU_FUNCTION(normcdf, std::erfc(-x / std::sqrt(2.0)) / 2)
CUDA_ON_CPU_FUNCTION(normcdfinv, -std::sqrt(2.0) * cuda_on_cpu::inverse_erfc(2 * x))
CUDA_ON_CPU_FUNCTION(rcbrt, 1 / std::cbrt(x))
// Modified Bessel functions of the first kind; the standard's know no negative x.
CUDA_ON_CPU_FUNCTION(cyl_bessel_i0, std::cyl_bessel_i(0.0, std::fabs(x)))
CUDA_ON_CPU_FUNCTION(cyl_bessel_i1, std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x))
#undef CUDA_ON_CPU_FUNCTION
inline float exp10(float x) { return exp10f(x); }
inline void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline double rhypot(double x, double y) { return 1 / std::hypot(x, y); }
inline float rhypotf(float x, float y) { return 1 / std::hypot(x, y); }
inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
inline float norm3df(float x, float y, float z) { return std::hypot(x, y, z); }
// Arithmetic with a rounding of one's choice; p is f for float and d for double.
#define CUDA_ON_CPU_ROUNDED(T, p, fma_, m, mode)                      \
  inline T __##p##add_##m(T x, T y) {                                 \
    using namespace cuda_on_cpu;                                      \
    return round_to<Rounding::mode, T>(exact_sum(x, y));              \
  }                                                                   \
  inline T __##p##sub_##m(T x, T y) { return __##p##add_##m(x, -y); } \
  inline T __##p##mul_##m(T x, T y) {                                 \
    using namespace cuda_on_cpu;                                      \
    return round_to<Rounding::mode, T>(exact_product(x, y));          \
  }                                                                   \
  inline T __##p##div_##m(T x, T y) {                                 \
    using namespace cuda_on_cpu;                                      \
    return round_to<Rounding::mode, T>(exact_quotient(x, y));         \
  }                                                                   \
  inline T __##fma_##_##m(T x, T y, T z) {                            \
    using namespace cuda_on_cpu;                                      \
    return round_to<Rounding::mode, T>(exact_fused(x, y, z));         \
  }                                                                   \
  inline T __##p##rcp_##m(T x) { return __##p##div_##m(1, x); }       \
  inline T __##p##sqrt_##m(T x) {                                     \
    using namespace cuda_on_cpu;                                      \
    return round_to<Rounding::mode, T>(exact_root(x));                \
  }
CUDA_ON_CPU_ROUNDED(float, f, fmaf, rz, zero)
CUDA_ON_CPU_ROUNDED(float, f, fmaf, ru, up)
CUDA_ON_CPU_ROUNDED(float, f, fmaf, rd, down)
CUDA_ON_CPU_ROUNDED(double, d, fma, rz, zero)
CUDA_ON_CPU_ROUNDED(double, d, fma, ru, up)
CUDA_ON_CPU_ROUNDED(double, d, fma, rd, down)
#undef CUDA_ON_CPU_ROUNDED
#define CUDA_ON_CPU_NEAREST(T, p, fma_)                               \
  inline T __##p##add_rn(T x, T y) { return x + y; }                  \
  inline T __##p##sub_rn(T x, T y) { return x - y; }                  \
  inline T __##p##mul_rn(T x, T y) { return x * y; }                  \
  inline T __##p##div_rn(T x, T y) { return x / y; }                  \
  inline T __##fma_##_rn(T x, T y, T z) { return std::fma(x, y, z); } \
  inline T __##p##rcp_rn(T x) { return 1 / x; }                       \
  inline T __##p##sqrt_rn(T x) { return std::sqrt(x); }
CUDA_ON_CPU_NEAREST(float, f, fmaf)
CUDA_ON_CPU_NEAREST(double, d, fma)
#undef CUDA_ON_CPU_NEAREST

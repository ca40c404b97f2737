/// @file
/// Arithmetic with a rounding of one's choice: to nearest even, towards zero, up and down. Without
/// the processor's modes, which compilers do not heed.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cuda_on_cpu {

enum class Rounding { nearest, zero, up, down };

/// The rounding of an exact result, which is `nearest + error`.
/// @param nearest rounded to nearest.
/// @param error only its sign matters.
template <Rounding rounding, class T>
T rounded(T nearest, double error) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if constexpr (rounding == Rounding::zero) {
    if (nearest > 0 ? error < 0 : error > 0) return std::nextafter(nearest, T(0));
  } else if constexpr (rounding == Rounding::up) {
    if (error > 0) return std::nextafter(nearest, infinity);
  } else if constexpr (rounding == Rounding::down) {
    if (error < 0) return std::nextafter(nearest, -infinity);
  }
  return nearest;
}

/// What a + b lacks.
inline double error_of_sum(double a, double b, double sum) {
  const double of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b);
}
/// What fma(a, b, c) lacks; of a result that is very small, the sign only.
inline double error_of_fma(double a, double b, double c, double result) {
  const double product = a * b;
  const double product_error = std::fma(a, b, -product);
  const double low = c + product_error;
  const double low_error = error_of_sum(c, product_error, low);
  const double high = product + low;
  const double high_error = error_of_sum(product, low, high);
  return ((high - result) + high_error) + low_error;
}

/// A double that shows in its last bit that it is not exact, so that it can be rounded once more.
inline double made_odd(double nearest, double error) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &nearest, sizeof bits);
  if (error == 0 || !std::isfinite(nearest) || std::isnan(error) || (bits & 1U) != 0)
    return nearest;
  return std::nextafter(nearest, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

template <Rounding rounding>
double add(double a, double b) {
  const double sum = a + b;
  return rounded<rounding>(sum, error_of_sum(a, b, sum));
}
template <Rounding rounding>
double multiply(double a, double b) {
  const double product = a * b;
  return rounded<rounding>(product, std::fma(a, b, -product));
}
template <Rounding rounding>
double divide(double a, double b) {
  const double quotient = a / b;
  const double rest = std::fma(-quotient, b, a);
  return rounded<rounding>(quotient, b < 0 ? -rest : rest);
}
template <Rounding rounding>
double square_root(double x) {
  const double root = std::sqrt(x);
  return rounded<rounding>(root, std::fma(-root, root, x));
}
template <Rounding rounding>
double fused(double a, double b, double c) {
  const double result = std::fma(a, b, c);
  return rounded<rounding>(result, error_of_fma(a, b, c, result));
}

/// A double that may have been made odd, as a float.
template <Rounding rounding>
float to_float(double x) {
  const auto nearest = static_cast<float>(x);
  return rounded<rounding>(nearest, x - static_cast<double>(nearest));
}
template <Rounding rounding>
float add(float a, float b) {
  const double wide_a = a;
  const double wide_b = b;
  const double sum = wide_a + wide_b;
  return to_float<rounding>(made_odd(sum, error_of_sum(wide_a, wide_b, sum)));
}
template <Rounding rounding>
float multiply(float a, float b) {
  return to_float<rounding>(static_cast<double>(a) * static_cast<double>(b));
}
template <Rounding rounding>
float divide(float a, float b) {
  const double wide_a = a;
  const double wide_b = b;
  const double quotient = wide_a / wide_b;
  const double rest = std::fma(-quotient, wide_b, wide_a);
  return to_float<rounding>(made_odd(quotient, b < 0 ? -rest : rest));
}
template <Rounding rounding>
float square_root(float x) {
  const double wide = x;
  const double root = std::sqrt(wide);
  return to_float<rounding>(made_odd(root, std::fma(-root, root, wide)));
}
template <Rounding rounding>
float fused(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double wide_c = c;
  const double sum = product + wide_c;
  return to_float<rounding>(made_odd(sum, error_of_sum(product, wide_c, sum)));
}

/// A whole number in this direction.
template <Rounding rounding, class T>
T whole(T x) {
  if constexpr (rounding == Rounding::nearest) return std::nearbyint(x);
  if constexpr (rounding == Rounding::zero) return std::trunc(x);
  if constexpr (rounding == Rounding::up) return std::ceil(x);
  return std::floor(x);
}
/// A whole number of a type, the nearest that it has; of NaN what a GPU makes of it.
template <class Integer, Rounding rounding, class T>
Integer to_integer(T x) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(x)) {
    return sizeof(Integer) < 8 ? Integer(0) : static_cast<Integer>(std::uint64_t{1} << 63U);
  }
  const T value = whole<rounding>(x);
  const T bound = std::ldexp(T(1), Limits::digits);
  if (value >= bound) return Limits::max();
  if (value < (std::is_signed_v<Integer> ? -bound : T(0))) return Limits::min();
  return static_cast<Integer>(value);
}
/// The floating-point number of an integer.
template <class T, Rounding rounding, class Integer>
T from_integer(Integer x) {
  const T nearest = static_cast<T>(x);
  // Both as integers of 128 bits, which hold what the nearest may have grown to.
  const auto error = static_cast<__int128_t>(x) - static_cast<__int128_t>(nearest);
  return rounded<rounding>(nearest, error > 0 ? 1.0 : (error < 0 ? -1.0 : 0.0));
}

}  // namespace cuda_on_cpu

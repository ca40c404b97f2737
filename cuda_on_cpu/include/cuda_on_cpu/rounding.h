/// @file
/// Arithmetic with a rounding of one's choice: to nearest even, towards zero, up and down. Without
/// the processor's modes, which compilers do not heed.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

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

/// What an operation gives in double, and what that lacks of the exact result; where the result is
/// very small, of the latter the sign only.
struct ExactResult {
  double nearest;
  double error;
};

inline ExactResult exact_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
inline ExactResult exact_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}
inline ExactResult exact_quotient(double a, double b) {
  const double quotient = a / b;
  const double rest = std::fma(-quotient, b, a);
  return {quotient, b < 0 ? -rest : rest};
}
inline ExactResult exact_root(double x) {
  const double root = std::sqrt(x);
  return {root, std::fma(-root, root, x)};
}
/// a * b + c.
inline ExactResult exact_fused(double a, double b, double c) {
  const double result = std::fma(a, b, c);
  const ExactResult product = exact_product(a, b);
  const ExactResult low = exact_sum(c, product.error);
  const ExactResult high = exact_sum(product.nearest, low.nearest);
  return {result, ((high.nearest - result) + high.error) + low.error};
}

/// A double that shows in its last bit that it is not exact, so that it can be rounded once more.
inline double made_odd(ExactResult result) {
  const auto [nearest, error] = result;
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &nearest, sizeof bits);
  if (error == 0 || !std::isfinite(nearest) || std::isnan(error) || (bits & 1U) != 0) return nearest;
  return std::nextafter(nearest, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// A double that may have been made odd, as a float.
template <Rounding rounding>
float to_float(double x) {
  const auto nearest = static_cast<float>(x);
  return rounded<rounding>(nearest, x - static_cast<double>(nearest));
}
/// The result of an operation on numbers of type T.
template <Rounding rounding, class T>
T round_to(ExactResult result) {
  if constexpr (std::is_same_v<T, double>) return rounded<rounding>(result.nearest, result.error);
  return to_float<rounding>(made_odd(result));
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

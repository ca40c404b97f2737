/// @file
/// Behind <cuda/cmath>. All arguments are at least 0, and divisors at least 1.
#pragma once

#include <type_traits>

namespace cuda {

/// a / b, rounded up: the number of blocks of b threads that have a thread for each of a elements.
template <class T, class U>
constexpr ::std::common_type_t<T, U> ceil_div(T a, U b) {
  using Common = ::std::common_type_t<T, U>;
  const auto dividend = static_cast<Common>(a);
  const auto divisor = static_cast<Common>(b);
  return static_cast<Common>(dividend / divisor + (dividend % divisor != 0 ? 1 : 0));
}
/// The next multiple of `multiple` from a on.
template <class T, class U>
constexpr ::std::common_type_t<T, U> round_up(T a, U multiple) {
  using Common = ::std::common_type_t<T, U>;
  return static_cast<Common>(cuda::ceil_div(a, multiple) * static_cast<Common>(multiple));
}
/// The last multiple of `multiple` up to a.
template <class T, class U>
constexpr ::std::common_type_t<T, U> round_down(T a, U multiple) {
  using Common = ::std::common_type_t<T, U>;
  return static_cast<Common>(a / multiple * static_cast<Common>(multiple));
}

template <class T>
constexpr bool is_power_of_two(T a) {
  return a > 0 && (a & (a - 1)) == 0;
}
/// The logarithm to the base 2, rounded down. @param a at least 1.
template <class T>
constexpr int ilog2(T a) {
  int result = 0;
  while (a >>= 1) ++result;
  return result;
}
/// The logarithm to the base 10, rounded down. @param a at least 1.
template <class T>
constexpr int ilog10(T a) {
  int result = 0;
  while (a /= 10) ++result;
  return result;
}
/// The largest power of two up to a; 0 of 0.
template <class T>
constexpr T prev_power_of_two(T a) {
  return a == 0 ? T{0} : static_cast<T>(T{1} << cuda::ilog2(a));
}
/// The smallest power of two from a on; 1 of 0.
template <class T>
constexpr T next_power_of_two(T a) {
  return a <= 1 ? T{1} : static_cast<T>(T{1} << (cuda::ilog2(static_cast<T>(a - 1)) + 1));
}

}  // namespace cuda

/// @file
/// An activation and the way back through it, for one number in a register.
#pragma once

#include <type_traits>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::minibatch {

//! [sigmoid]
/// exp(x) for |x| up to 708: x = k ln 2 + r, exp(x) = 2^k exp(r), and for |r| <= ln 2 / 2 fourteen
/// terms of the series are as good as a double.
__device__ inline double bounded_exp(double x) {
  constexpr double to_integer = 6755399441055744.0;  // 1.5 2^52: what is added to it is rounded
  constexpr double ln2_high = 0x1.62e42fefa38p-1;    // so few bits that k times it is exact
  constexpr double ln2_low = 0x1.ef35793c7673p-45;
  constexpr double series[] = {1.0 / 6227020800,
                               1.0 / 479001600,
                               1.0 / 39916800,
                               1.0 / 3628800,
                               1.0 / 362880,
                               1.0 / 40320,
                               1.0 / 5040,
                               1.0 / 720,
                               1.0 / 120,
                               1.0 / 24,
                               1.0 / 6,
                               1.0 / 2,
                               1.0,
                               1.0};
  const double k = fma(x, 1.4426950408889634, to_integer);
  const double rounded = k - to_integer;
  const double r = fma(rounded, -ln2_low, fma(rounded, -ln2_high, x));
  double sum = series[0];
#pragma unroll
  for (int i = 1; i < 14; ++i) sum = fma(sum, r, series[i]);
  // The lowest bits of k are the integer; it becomes an exponent.
  const unsigned exponent = static_cast<unsigned>(__double2loint(k)) + 1023;
  return sum * __hiloint2double(static_cast<int>(exponent << 20U), 0);
}

/// The same as the library has it, which for floats does not branch.
__device__ inline float bounded_exp(float x) {
  return exp(x);
}

/// 1 / x for a finite x from 1 on, but for the last bit: an approximation, and Newton's steps, each
/// of which doubles the number of right bits.
template <typename T>
__device__ T reciprocal(T x) {
#ifdef __CUDA_ARCH__
  T y;
  if constexpr (std::is_same_v<T, double>) {
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(y, fma(-x, y, 1.0), y);
  } else {
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  }
  return fma(y, fma(-x, y, T{1}), y);
#else
  return T{1} / x;
#endif
}

/// 1 / (1 + exp(-x)). A NaN stays one.
///
/// CUDA's exp() of doubles and its division branch for numbers that do not occur here. An epilogue
/// computes several sigmoids at a time, each a chain of some thirty operations that wait for each
/// other, and behind branches the chains follow one another, instead of running side by side. So x
/// is clamped to where no branch is needed.
template <typename T>
__device__ T sigmoid(T x) {
  constexpr T least = sizeof(T) == 8 ? -708 : -87;
  return reciprocal(T{1} + bounded_exp(-(x < least ? least : x > -least ? -least : x)));
}
//! [sigmoid]

/// An activation, and the way back through it, computed from y = activation(x); there is none for
/// what is not fused. A NaN stays one.
template <Activation activation>
struct Function;

template <>
struct Function<Activation::none> {
  /// y.
  template <typename T>
  static __device__ T of(T x) {
    return x;
  }
  /// The gradient of x from that of y.
  template <typename T>
  static __device__ T back(T /*y*/, T gradient) {
    return gradient;
  }
};

template <>
struct Function<Activation::relu> {
  /// y.
  template <typename T>
  static __device__ T of(T x) {
    return x < 0 ? T{0} : x;
  }
  /// The gradient of x from that of y.
  template <typename T>
  static __device__ T back(T y, T gradient) {
    return y > 0 ? gradient : T{0};
  }
};

template <>
struct Function<Activation::sigmoid> {
  /// y.
  template <typename T>
  static __device__ T of(T x) {
    return sigmoid(x);
  }
  /// The gradient of x from that of y.
  template <typename T>
  static __device__ T back(T y, T gradient) {
    return gradient * y * (T{1} - y);
  }
};

/// Calls work.operator()<a>() with the activation: chooses once what would be the same for many
/// numbers.
template <typename Work>
__device__ void with_function(Activation activation, const Work& work) {
  if (activation == Activation::none) return work.template operator()<Activation::none>();
  with_activation(activation, [&]<Activation a>() {
    if constexpr (requires { Function<a>(); }) work.template operator()<a>();
  });
}

/// activation(x).
template <typename T>
__device__ T activate(Activation activation, T x) {
  T y = x;
  with_function(activation, [&]<Activation a>() { y = Function<a>::of(x); });
  return y;
}

/// From the gradient of y = activation(x) to that of x.
template <typename T>
__device__ T through_activation(Activation activation, T y, T gradient) {
  T result = gradient;
  with_function(activation, [&]<Activation a>() { result = Function<a>::back(y, gradient); });
  return result;
}

}  // namespace stagewise::minibatch

/// @file
/// Elementwise operations: bias, activations and their gradients, sums.
#pragma once

#include <cmath>

#include "network/activations.hpp"
#include "tensor/shape.hpp"

namespace stagewise::serial {

/// An activation, and the way back through it; there is none for what this stage does not compute.
template <Activation activation>
struct Function;

/// @cond
//! [relu]
template <>
struct Function<Activation::relu> {
  template <typename T>
  static T of(T x) {
    return x < T{0} ? T{0} : x;  // in this form, a NaN stays
  }
  template <typename T>
  static T back(T y, T dy) {
    return y > T{0} ? dy : T{0};
  }
};
//! [relu]

//! [sigmoid]
template <>
struct Function<Activation::sigmoid> {
  template <typename T>
  static T of(T x) {
    return T{1} / (T{1} + std::exp(-x));
  }
  template <typename T>
  static T back(T y, T dy) {
    return dy * y * (T{1} - y);
  }
};
//! [sigmoid]

/// Calls work.operator()<Function>() for an activation that this stage computes.
template <typename Work>
void with_function(Activation activation, const Work& work) {
  with_activation(activation, [&]<Activation a>() {
    if constexpr (requires { Function<a>(); }) work.template operator()<Function<a>>();
  });
}
/// @endcond

//! [add_bias]
/// y[i, j] = x[i, j] + bias[j]; `y` may be `x`.
template <typename T>
void add_bias(Index rows, Index cols, const T* x, const T* bias, T* y) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) y[i * cols + j] = x[i * cols + j] + bias[j];
  }
}
//! [add_bias]

/// Whether activate() and activate_backward() compute it.
inline bool computes(Activation activation) {
  bool found = false;
  with_function(activation, [&]<typename F>() { found = true; });
  return found;
}

//! [activate]
/// y = activation(x); `y` may be `x`.
/// @pre computes(activation); else it does nothing.
template <typename T>
void activate(Activation activation, Index n, const T* x, T* y) {
  with_function(activation, [&]<typename F>() {
    for (Index i = 0; i < n; ++i) y[i] = F::of(x[i]);
  });
}

/// dx = dy activation'(x), which y = activation(x) tells; `dx` may be `dy`.
/// @pre as above.
template <typename T>
void activate_backward(Activation activation, Index n, const T* y, const T* dy, T* dx) {
  with_function(activation, [&]<typename F>() {
    for (Index i = 0; i < n; ++i) dx[i] = F::back(y[i], dy[i]);
  });
}
//! [activate]

/// z = x + y; `z` may be `x`.
template <typename T>
void add(Index n, const T* x, const T* y, T* z) {
  for (Index i = 0; i < n; ++i) z[i] = x[i] + y[i];
}

}  // namespace stagewise::serial

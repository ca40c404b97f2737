/// @file
/// An activation and the way back through it, for one number in a register.
#pragma once

#include "network/problems.hpp"

namespace stagewise::minibatch {

/// activation(x). A NaN stays one.
template <typename T>
__device__ T activate(Activation activation, T x) {
  if (activation == Activation::relu) return x < 0 ? T{0} : x;
  if (activation == Activation::sigmoid) return T{1} / (T{1} + exp(-x));
  return x;
}

/// Calls `work` with the activation as its template argument: chooses once what would be the same
/// for many numbers.
template <typename Work>
__device__ void with_activation(Activation activation, const Work& work) {
  switch (activation) {
    case Activation::relu:
      work.template operator()<Activation::relu>();
      break;
    case Activation::sigmoid:
      work.template operator()<Activation::sigmoid>();
      break;
    case Activation::none:
      work.template operator()<Activation::none>();
      break;
  }
}

/// From the gradient of y = activation(x) to that of x. Both activations can tell it from y.
template <typename T>
__device__ T through_activation(Activation activation, T y, T gradient) {
  if (activation == Activation::relu) return y > 0 ? gradient : T{0};
  if (activation == Activation::sigmoid) return gradient * y * (T{1} - y);
  return gradient;
}

}  // namespace stagewise::minibatch

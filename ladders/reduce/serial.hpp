/// @file
/// The sum of a whole array on one core.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

//! [sum]
/// out[0] = the sum of n elements, always added up in double.
template <typename T>
void sum(Index n, const T* x, T* out) {
  double total = 0;  // a large float total would absorb no more small elements
  for (Index i = 0; i < n; ++i) total += static_cast<double>(x[i]);
  out[0] = static_cast<T>(total);
}
//! [sum]

}  // namespace stagewise::serial

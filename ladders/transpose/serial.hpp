/// @file
/// Transposition.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

//! [transpose]
/// y = x^T: x is [rows, cols], y is [cols, rows]; they must not overlap.
template <typename T>
void transpose(Index rows, Index cols, const T* x, T* y) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) y[j * rows + i] = x[i * cols + j];
  }
}
//! [transpose]

}  // namespace stagewise::serial

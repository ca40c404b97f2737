/// @file
/// Sums.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

//! [column_sums]
/// out[j] = the sum of column j of x [rows, cols]; over a batch, the gradient of a bias.
template <typename T>
void column_sums(Index rows, Index cols, const T* x, T* out) {
  for (Index j = 0; j < cols; ++j) out[j] = 0;
  for (Index i = 0; i < rows; ++i) {  // row by row, in the order of memory
    for (Index j = 0; j < cols; ++j) out[j] += x[i * cols + j];
  }
}
//! [column_sums]

}  // namespace stagewise::serial

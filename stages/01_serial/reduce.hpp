/// @file
/// Sums.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

/// out[j] = the sum of column j of x [rows, cols]; over a batch, the gradient of a bias.
template <typename T>
void column_sums(Index rows, Index cols, const T* x, T* out);

}  // namespace stagewise::serial

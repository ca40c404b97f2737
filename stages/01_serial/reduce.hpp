/// @file
/// Sums.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

/// out[0] = the sum of n elements, always added up in double.
template <typename T>
void sum(Index n, const T* x, T* out);

/// out[j] = the sum of column j of x [rows, cols].
template <typename T>
void column_sums(Index rows, Index cols, const T* x, T* out);

}  // namespace stagewise::serial

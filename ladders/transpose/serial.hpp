/// @file
/// Transposition.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

/// y = x^T: x is [rows, cols], y is [cols, rows]; they must not overlap.
template <typename T>
void transpose(Index rows, Index cols, const T* x, T* y);

}  // namespace stagewise::serial

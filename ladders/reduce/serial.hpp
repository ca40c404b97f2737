/// @file
/// The sum of a whole array on one core.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

/// out[0] = the sum of n elements, always added up in double.
template <typename T>
void sum(Index n, const T* x, T* out);

}  // namespace stagewise::serial

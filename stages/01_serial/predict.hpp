/// @file
/// From outputs to classes.
#pragma once

#include <cstdint>

#include "tensor/shape.hpp"

namespace stagewise::serial {

/// out[i] = the column of the largest element of row i; the lowest column wins ties.
template <typename T>
void argmax(Index rows, Index cols, const T* x, std::int32_t* out);

/// out[i] = 1 where x[i] >= cut, else 0.
template <typename T>
void threshold(Index rows, T cut, const T* x, std::int32_t* out);

}  // namespace stagewise::serial

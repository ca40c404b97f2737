/// @file
/// From outputs to classes.
#pragma once

#include <cstdint>

#include "tensor/shape.hpp"

namespace stagewise::serial {

//! [argmax]
/// out[i] = the column of the largest element of row i; the lowest column wins ties.
template <typename T>
void argmax(Index rows, Index cols, const T* x, std::int32_t* out) {
  for (Index i = 0; i < rows; ++i) {
    Index best = 0;
    for (Index j = 1; j < cols; ++j) {
      if (x[i * cols + j] > x[i * cols + best]) best = j;  // not >=: the lowest wins ties
    }
    out[i] = static_cast<std::int32_t>(best);
  }
}
//! [argmax]

/// out[i] = 1 where x[i] >= cut, else 0.
template <typename T>
void threshold(Index rows, T cut, const T* x, std::int32_t* out) {
  for (Index i = 0; i < rows; ++i) out[i] = x[i] >= cut ? 1 : 0;
}

}  // namespace stagewise::serial

/// @file
/// Transposition as a ladder of kernels.
#pragma once

#include "cuda/ladder.hpp"
#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// y = x^T: x is [rows, cols], y is [cols, rows]; they must not overlap.
template <typename T>
struct TransposeProblem {
  Index rows = 0;
  Index cols = 0;
  const T* x = nullptr;
  T* y = nullptr;
};

/// Variants of the transposition, from the slowest to the fastest; see the files in transpose/.
template <typename T>
Ladder<TransposeProblem<T>> transpose_ladder();

/// The rung to take: the last one but for the one that pays only behind kernels that allow it.
constexpr std::string_view default_transpose_rung = "vectors";

}  // namespace stagewise::shared_memory

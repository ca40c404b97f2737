/// @file
/// Element access to an operand of a product, transposed or not.
#pragma once

#include "network/problems.hpp"

namespace stagewise::serial {

/// op(X), addressed by row and column of the *operand*: a transposed matrix is the same memory with
/// the two strides exchanged.
template <typename T>
struct Operand {
  const T* data;
  Index row_stride;
  Index column_stride;

  const T& operator()(Index row, Index column) const {
    return data[row * row_stride + column * column_stride];
  }
};

/// op(A), an [m, k] operand.
template <typename T>
Operand<T> operand_a(const GemmProblem<T>& p) {
  if (p.op_a == Transpose::yes) return {p.a, 1, p.m};
  return {p.a, p.k, 1};
}

/// op(B), a [k, n] operand.
template <typename T>
Operand<T> operand_b(const GemmProblem<T>& p) {
  if (p.op_b == Transpose::yes) return {p.b, 1, p.k};
  return {p.b, p.n, 1};
}

}  // namespace stagewise::serial

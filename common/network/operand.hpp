/// @file
/// The factors of a matrix product, for the simple loops and kernels.
#pragma once

#include "network/problems.hpp"

namespace stagewise {

//! [operand]
/// A factor of the product, transposed or not: a transposed matrix is the same memory with the two
/// strides exchanged. What is constexpr can be called in kernels, too.
template <typename T>
struct Operand {
  const T* data;
  Index row_stride;
  Index column_stride;

  /// Element (i, j) of the factor.
  constexpr T operator()(Index i, Index j) const { return data[i * row_stride + j * column_stride]; }
};
//! [operand]

/// op(A), [m, k].
template <typename T>
Operand<T> operand_a(const GemmProblem<T>& p) {
  if (p.op_a == Transpose::yes) return {p.a, 1, p.m};
  return {p.a, p.k, 1};
}

/// op(B), [k, n].
template <typename T>
Operand<T> operand_b(const GemmProblem<T>& p) {
  if (p.op_b == Transpose::yes) return {p.b, 1, p.k};
  return {p.b, p.n, 1};
}

}  // namespace stagewise

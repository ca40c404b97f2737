/// @file
/// The factors of a matrix product, for the simple kernels.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::naive_cuda {

//! [operand]
/// A factor of the product, transposed or not: element (i, j) is at `data[i * row_stride + j *
/// column_stride]`.
template <typename T>
struct Operand {
  const T* data;
  Index row_stride;
  Index column_stride;

  __device__ T operator()(Index i, Index j) const {
    return data[i * row_stride + j * column_stride];
  }
};
//! [operand]

/// op(A), [m, k].
template <typename T>
Operand<T> operand_a(const GemmProblem<T>& p) {
  if (p.op_a == Transpose::no) return {p.a, p.k, 1};
  return {p.a, 1, p.m};
}

/// op(B), [k, n].
template <typename T>
Operand<T> operand_b(const GemmProblem<T>& p) {
  if (p.op_b == Transpose::no) return {p.b, p.n, 1};
  return {p.b, 1, p.k};
}

}  // namespace stagewise::naive_cuda

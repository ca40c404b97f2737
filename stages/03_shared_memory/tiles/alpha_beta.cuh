/// @file
/// The epilogue of a matrix product (see finish.cuh): alpha op(A) op(B) + beta C.
#pragma once

#include "03_shared_memory/tiles/finish.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

//! [alpha_beta]
/// alpha sum + beta C. With beta = 0, C is not read.
template <typename T>
struct AlphaBeta : StoredRows<T> {
  static constexpr int read_ahead = 0;  // C is rarely added to

  T alpha;
  T beta;

  AlphaBeta(T* c, Index columns, T alpha_factor, T beta_factor)
      : StoredRows<T>(c, columns), alpha(alpha_factor), beta(beta_factor) {}
  explicit AlphaBeta(const GemmProblem<T>& p) : AlphaBeta(p.c, p.n, p.alpha, p.beta) {}

  /// See finish.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    if (beta == 0) {
      work(NoSource(), [&](int /*row*/, T sum, T /*c*/) { return alpha * sum; });
    } else {
      work([&](int i) { return this->row(i); },
           [&](int /*row*/, T sum, T c) { return alpha * sum + beta * c; });
    }
  }
};
//! [alpha_beta]

}  // namespace stagewise::shared_memory

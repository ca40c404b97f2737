/// @file
/// What happens to a finished element of a product.
///
/// An epilogue says what is stored for the sum of an element, and where:
///
///     T operator()(int row, int column, T sum) const;  // what to store
///     T* row(int row) const;  // where a row's elements go, one after another
///     bool vectors;           // whether rows can be written 16 bytes at a time
///
/// Those for multiplied_tile.cuh have, instead of operator() or in addition to it, a function that
/// decides once what would be the same for all elements:
///
///     void with_element(work) const;  // calls work(element), with such an operator()
///     static constexpr bool reads;    // whether element usually reads memory
///
/// It is the place to do more with a sum while it is still in a register.
#pragma once

#include "03_shared_memory/gemm/loader.cuh"

namespace stagewise::shared_memory {

//! [alpha_beta]
/// alpha sum + beta C. With beta = 0, C is not read.
template <typename T>
struct AlphaBeta {
  static constexpr bool reads = false;  // C is rarely added to

  T* out;
  int n;
  T alpha;
  T beta;
  bool vectors;

  AlphaBeta(T* c, Index columns, T alpha_factor, T beta_factor)
      : out(c),
        n(static_cast<int>(columns)),
        alpha(alpha_factor),
        beta(beta_factor),
        vectors(is_aligned(c, columns)) {}
  explicit AlphaBeta(const GemmProblem<T>& p) : AlphaBeta(p.c, p.n, p.alpha, p.beta) {}

  /// Where row number `i` is stored.
  __device__ T* row(int i) const { return out + static_cast<Index>(i) * n; }

  __device__ T operator()(int i, int column, T sum) const {
    if (beta == 0) return alpha * sum;
    return alpha * sum + beta * row(i)[column];
  }

  /// Calls work(element).
  template <typename Work>
  __device__ void with_element(const Work& work) const {
    if (beta == 0) {
      work([&](int /*row*/, int /*column*/, T sum) { return alpha * sum; });
    } else {
      work(*this);
    }
  }
};
//! [alpha_beta]

}  // namespace stagewise::shared_memory

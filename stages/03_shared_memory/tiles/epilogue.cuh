/// @file
/// What happens to a finished element of a product.
///
/// An epilogue says what is stored for the sum of an element, and where. So that a thread requests
/// all that it needs before it uses the first of it, that comes in two parts:
///
///     T* row(int row) const;            // where a row's elements go, one after another
///     bool vectors;                     // whether rows can be written 16 bytes at a time
///     void with_finish(work) const;     // calls work(source, finish)
///     static constexpr int read_ahead;  // scalars loaded at once; 0: it usually loads none
///
/// where `const T* source(int row)` says where the numbers are that the elements of a row need, one
/// for each column (null: zeros), and `T finish(int row, T sum, T source)` what to store. They can
/// be loaded 16 bytes at a time if `vectors`.
///
/// An epilogue may instead take neighbouring columns of four rows of a lane at once, and store them
/// itself; `row` is the first of the four:
///
///     static constexpr bool four_rows = true;
///     static constexpr int read_ahead = 0;
///     void operator()(int row, int column, int n, const T (&sums)[4][neighbours]) const;
///
/// Which rows these are depends on the Mma: see its row().
///
/// It is the place to do more with a sum while it is still in a register.
#pragma once

#include "03_shared_memory/vector.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// Loads `count` neighbours of a row of `n` numbers; `column` is a multiple of `count`. Leaves out
/// those past the end: another thread may be writing there.
/// @param vectors whether they can be loaded as one.
template <int count, typename T>
__device__ __forceinline__ void load_neighbours(const T* row, int column, int n, bool vectors,
                                                T* values) {
  if (column >= n) return;
  if (vectors) {
    load_vector<T, count>(values, row + column);
  } else {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      if (column + j < n) values[j] = row[column + j];
    }
  }
}

/// Stores neighbours in a row, as far as they are inside; see above.
template <int count, typename T>
__device__ __forceinline__ void store_neighbours(T* row, int column, int n, bool vectors,
                                                 const T* values) {
  if (column >= n) return;
  if (vectors) {
    Vector<T, count> vector;
#pragma unroll
    for (int j = 0; j < count; ++j) vector.values[j] = values[j];
    *reinterpret_cast<Vector<T, count>*>(row + column) = vector;
  } else {
#pragma unroll
    for (int j = 0; j < count; ++j) {
      if (column + j < n) row[column + j] = values[j];
    }
  }
}

/// Whether an epilogue takes neighbours of four rows at once.
template <typename E>
constexpr bool takes_four_rows = requires {
  E::four_rows;
};

/// For an epilogue that needs only the sums.
struct NoSource {};

/// The rows of the matrix that an epilogue stores.
template <typename T>
struct StoredRows {
  T* out;
  int n;         ///< columns
  bool vectors;  ///< whether they can be read and written 16 bytes at a time

  /// @param source rows of as many columns, which the epilogue reads; null: none.
  StoredRows(T* to, Index columns, const T* source = nullptr)
      : out(to),
        n(static_cast<int>(columns)),
        vectors(is_aligned(to, columns) && is_aligned(source, columns)) {}

  /// Where row number `i` is stored.
  __device__ T* row(int i) const { return out + static_cast<Index>(i) * n; }
};

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

  /// See above.
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

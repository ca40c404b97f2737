/// @file
/// What the top rungs ask of a matrix that they multiply.
///
/// A loader answers one question: where is the element of row (of A) or column (of B) `place` and
/// of step `step` along k? A thread asks for the same places again and again with other steps, so
/// the answer comes in two parts. Any type can be a loader that has
///
///     Row row(int place) const;                     // what can be worked out without the step
///     Element<T> at(const Row& row, int step) const;
///     bool memory_runs_along() const;  // whether neighbours in memory differ in `step`
///     static constexpr int length;     // how many neighbours can be loaded at once
///
/// A `length` above 1 promises that each group of so many neighbours is aligned to 16 bytes and
/// lies either inside the matrix or outside. Steps up to `beyond` and a tile's depth are asked for,
/// places up to a tile's height past the last. The loaders here are those of stored matrices; the
/// convolution brings another.
///
/// A loader that has to look up in memory where a step is also has
///
///     Step step(int step) const;       // what it finds there, asked for a k tile ahead
///     Element<T> at(const Row& row, int step, Step found) const;
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/vector.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// Where an element is, and whether it is: beyond the edges of a matrix there are zeros.
template <typename T>
struct Element {
  const T* address;
  bool is_inside;
};

/// A step that no matrix has: all of its elements are zero.
constexpr int beyond = 1 << 30;

//! [stored]
/// Whether rows, columns and steps can be counted in ints, those beyond the edges included.
inline bool fits_ints(Index m, Index n, Index k) {
  constexpr Index most = beyond - 1024;
  return m <= most && n <= most && k <= most;
}

/// A factor as it is stored. See the two kinds below.
template <typename T>
struct StoredMatrix {
  /// The first element of a place.
  struct Row {
    const T* begin;
    int steps;  ///< 0 if there is no such place
  };

  const T* data;
  int places;  ///< rows of op(A), or columns of op(B)
  int steps;   ///< k

  /// See row() of the loaders.
  __device__ Row row_at(int place, bool along) const {
    // The product of two ints as an Index: one instruction, and no overflow.
    return {data + static_cast<Index>(place) * (along ? steps : 1), place < places ? steps : 0};
  }

  /// See at() of the loaders.
  __device__ Element<T> element_at(const Row& row, int step, bool along) const {
    return {row.begin + static_cast<Index>(step) * (along ? 1 : places), step < row.steps};
  }
};

/// In one of two directions, loaded by vectors.
/// @tparam along whether its memory runs along k.
template <typename T, bool along>
struct VectorLoader : StoredMatrix<T> {
  using typename StoredMatrix<T>::Row;
  static constexpr int length = Vector<T>::length;

  /// Known when the kernel is compiled.
  static __device__ constexpr bool memory_runs_along() { return along; }

  /// Where a row of A begins, or a column of B.
  __device__ Row row(int place) const { return this->row_at(place, along); }

  /// Where its element of a step is.
  __device__ Element<T> at(const Row& row, int step) const {
    return this->element_at(row, step, along);
  }
};
//! [stored]

/// In either direction, loaded number by number: for rows of odd lengths.
template <typename T>
struct ScalarLoader : StoredMatrix<T> {
  using typename StoredMatrix<T>::Row;
  static constexpr int length = 1;
  static constexpr bool computes_rows =
      true;  ///< rows need not be kept in registers: they are many
  bool along;

  /// Known when the kernel runs.
  __device__ bool memory_runs_along() const { return along; }

  /// Where a row of A begins, or a column of B.
  __device__ Row row(int place) const { return this->row_at(place, along); }

  /// Where its element of a step is.
  __device__ Element<T> at(const Row& row, int step) const {
    return this->element_at(row, step, along);
  }
};

//! [with_loaders]
/// Calls `multiply(loader of A, loader of B)` with loaders that suit the problem. Each pair is
/// another kernel, so there are no more of them than speed asks for: vectors in the directions that
/// the transposes make; scalars for a B whose rows are no vectors, such as that of a last layer
/// with 10 units; and scalars for both in all other cases.
template <typename T, typename Multiply>
void with_loaders(const GemmProblem<T>& p, const Multiply& multiply) {
  const auto m = static_cast<int>(p.m);
  const auto n = static_cast<int>(p.n);
  const auto k = static_cast<int>(p.k);
  const bool a_along = p.op_a == Transpose::no;
  const bool b_along = p.op_b == Transpose::yes;
  const VectorLoader<T, true> vectors_of_a = {{p.a, m, k}};
  const VectorLoader<T, false> vectors_of_a_transposed = {{p.a, m, k}};
  const VectorLoader<T, false> vectors_of_b = {{p.b, n, k}};
  const VectorLoader<T, true> vectors_of_b_transposed = {{p.b, n, k}};
  const ScalarLoader<T> scalars_of_a = {{p.a, m, k}, a_along};
  const ScalarLoader<T> scalars_of_b = {{p.b, n, k}, b_along};

  if (!is_aligned(p.a, a_along ? p.k : p.m)) return multiply(scalars_of_a, scalars_of_b);
  const bool b_has_vectors = is_aligned(p.b, b_along ? p.k : p.n);
  const auto with_a = [&](const auto& a) {
    if (!b_has_vectors) return multiply(a, scalars_of_b);
    if (b_along) return multiply(a, vectors_of_b_transposed);
    multiply(a, vectors_of_b);
  };
  if (a_along) {
    with_a(vectors_of_a);
  } else {
    with_a(vectors_of_a_transposed);
  }
}
//! [with_loaders]

}  // namespace stagewise::shared_memory

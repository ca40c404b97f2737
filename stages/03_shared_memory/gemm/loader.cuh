/// @file
/// How the top rungs find the elements of a factor.
///
/// A loader answers one question: where is the element of row (of A) or column (of B) `place` and
/// of step `step` along k? A thread asks for the same places again and again with different steps,
/// so the answer comes in two parts. A loader is any type that has
///
///     Row row(int place) const;                     // what does not depend on the step
///     Element<T> at(const Row& row, int step) const;
///     bool memory_runs_along() const;  // whether neighbours in memory differ in `step`
///     static constexpr int length;     // how many neighbours can be loaded at once
///
/// A `length` above 1 promises that each group of `length` neighbours is aligned to 16 bytes and
/// lies either entirely inside the matrix or entirely outside. Loaders must accept steps up to a
/// tile's depth past `beyond`, where elements do not exist, and places up to a tile's height past
/// the last, where any numbers will do, since the results are not stored.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/gemm/tile_plan.hpp"
#include "03_shared_memory/vector.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// Where an element is, and whether it exists: past the last step, there are zeros.
template <typename T>
struct Element {
  const T* address;
  bool is_inside;
};

/// A step that no matrix has: all of its elements are zero.
constexpr int beyond = 1 << 30;

//! [place_inside]
/// The place to load from where `place` may lie past the edge. What is computed from places past it
/// lies outside of C, so any numbers will do. But not the same for all: loads of the same bytes
/// wait for each other. So the first places stand in, one for each.
__device__ inline int place_inside(int place, int places) {
  return place < places ? place : place % places;
}
//! [place_inside]

//! [stored]
/// Whether rows, columns and steps fit into ints, including those beyond the edges.
inline bool fits_ints(Index m, Index n, Index k) {
  constexpr Index most = beyond - 1024;
  return m <= most && n <= most && k <= most;
}

/// A factor as it is stored. See the two kinds below.
template <typename T>
struct StoredMatrix {
  using Row = const T*;  ///< the first element of a place

  const T* data;
  int places;  ///< rows of op(A), or columns of op(B)
  int steps;   ///< k

  /// See row() of the loaders. Past the last place, others stand in, so nobody has to remember
  /// which places there are.
  __device__ Row row_at(int place, bool along) const {
    // The product of two ints as an Index: one instruction, and no overflow.
    return data + static_cast<Index>(place_inside(place, places)) * (along ? steps : 1);
  }

  /// See at() of the loaders.
  __device__ Element<T> element_at(Row row, int step, bool along) const {
    return {row + static_cast<Index>(step) * (along ? 1 : places), step < steps};
  }
};

/// A loader for vectors, whose memory runs in a fixed direction.
/// @tparam along whether its memory runs along k.
template <typename T, bool along>
struct VectorLoader : StoredMatrix<T> {
  using typename StoredMatrix<T>::Row;
  static constexpr int length = Vector<T>::length;

  /// Known at compile time.
  static __device__ constexpr bool memory_runs_along() { return along; }

  /// Where a row of A begins, or a column of B.
  __device__ Row row(int place) const { return this->row_at(place, along); }

  /// Where its element of a step is.
  __device__ Element<T> at(const Row& row, int step) const {
    return this->element_at(row, step, along);
  }
};
//! [stored]

/// A loader of single numbers, whose memory runs in either direction, where speed matters less.
template <typename T>
struct ScalarLoader : StoredMatrix<T> {
  using typename StoredMatrix<T>::Row;
  static constexpr int length = 1;
  bool along;

  /// Known at run time.
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
/// another kernel, so there are only as many as speed requires: vectors in the directions that the
/// transposes imply; single numbers for a B whose rows cannot be loaded as vectors, such as that of
/// a last layer with 10 units; and single numbers for both factors in all other cases.
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

//! [strided_matrix]
/// A factor as rungs 14 and above see it: elements at fixed distances. So a thread does not have to
/// look for them: from a k tile to the next, it moves its pointers on.
/// @tparam along_ whether neighbours in memory differ in the step along k.
/// @tparam length_ how many neighbours can be copied at once: a vector, or a single number.
/// @tparam is_turned_ whether k tiles are turned; see SwizzledTile.
template <typename T, bool along_, int length_, bool is_turned_ = false>
struct StridedMatrix {
  static constexpr bool along = along_;
  static constexpr int length = length_;
  static constexpr bool is_turned = is_turned_;

  const T* data;
  int places;  ///< rows of op(A), or columns of op(B)
  int steps;   ///< k

  /// From a place to the next, and from a step to the next.
  __device__ Index place_stride() const { return along ? steps : 1; }
  __device__ Index step_stride() const { return along ? 1 : places; }

  /// Where an element is, or would be.
  __device__ const T* at(int place, int step) const {
    return data + place * place_stride() + step * step_stride();
  }
};
//! [strided_matrix]

/// Calls `multiply(A, B)` with two strided matrices: with vectors if both factors have them, else
/// with single numbers; see copies_vectors().
/// @tparam turns_one whether B's k tiles are turned, if memory runs along k in both factors.
template <bool turns_one, typename T, typename Multiply>
void with_strided_matrices(const GemmProblem<T>& p, const Multiply& multiply) {
  const auto m = static_cast<int>(p.m);
  const auto n = static_cast<int>(p.n);
  const auto k = static_cast<int>(p.k);
  const bool a_along = p.op_a == Transpose::no;
  const bool b_along = p.op_b == Transpose::yes;
  const bool have_vectors = copies_vectors(p);
  const auto with = [&]<bool along_a, bool along_b, int length>() {
    multiply(StridedMatrix<T, along_a, length>{p.a, m, k}, StridedMatrix < T, along_b, length,
             turns_one && along_a && along_b > {p.b, n, k});
  };
  const auto with_b = [&]<bool along_a, bool along_b>() {
    if constexpr (along_a || !along_b) {
      if (have_vectors) return with.template operator()<along_a, along_b, Vector<T>::length>();
    }
    with.template operator()<along_a, along_b, 1>();
  };
  const auto with_a = [&]<bool along_a>() {
    b_along ? with_b.template operator()<along_a, true>()
            : with_b.template operator()<along_a, false>();
  };
  a_along ? with_a.template operator()<true>() : with_a.template operator()<false>();
}

}  // namespace stagewise::shared_memory

/// @file
/// A factor as it is stored, the simplest Matrix; see tiles.hpp.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/tiles/strided_copies.cuh"
#include "tensor/shape.hpp"

namespace stagewise::shared_memory {

/// More than any size that is counted in ints here.
constexpr int beyond = 1 << 30;

/// Whether rows, columns and steps fit into ints, including those beyond the edges.
inline bool fits_ints(Index m, Index n, Index k) {
  constexpr Index most = beyond - 1024;
  return m <= most && n <= most && k <= most;
}

//! [row_inside]
/// The row to load from where `row` may lie past the edge. What is computed from rows past it lies
/// outside of C, so any numbers will do. But not the same for all: loads of the same bytes wait for
/// each other. So the first rows stand in, one for each.
__device__ inline int row_inside(int row, int rows) {
  return row < rows ? row : row % rows;
}
//! [row_inside]

//! [strided_matrix]
/// Elements at fixed distances. So a thread does not have to look for them: from a k tile to the
/// next, it moves its pointers on.
/// @tparam k_major_ whether neighbours in memory differ in the step along k.
/// @tparam length_ how many neighbours can be copied at once: a vector, or a single scalar.
/// @tparam is_transposed_ whether k tiles are transposed; see SwizzledTile.
template <typename T, bool k_major_, int length_, bool is_transposed_ = false>
struct StridedMatrix {
  using Scalar = T;
  static constexpr bool k_major = k_major_;
  static constexpr int length = length_;
  static constexpr bool is_transposed = is_transposed_;
  template <int extent, int BK, int threads>
  using Copies = StridedCopies<StridedMatrix, extent, BK, threads>;

  const T* data;
  int rows;   ///< of op(A), or columns of op(B)
  int steps;  ///< k

  /// From a row to the next, and from a step to the next.
  __device__ Index row_stride() const { return k_major ? steps : 1; }
  __device__ Index step_stride() const { return k_major ? 1 : rows; }

  /// Where an element is, or would be.
  __device__ const T* at(int row, int step) const {
    return data + row * row_stride() + step * step_stride();
  }
};
//! [strided_matrix]

}  // namespace stagewise::shared_memory

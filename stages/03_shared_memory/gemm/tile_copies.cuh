/// @file
/// A thread's asynchronous copies to a k tile, which can be requested one by one.
#pragma once

#include "03_shared_memory/gemm/copy_async.cuh"
#include "03_shared_memory/gemm/loader.cuh"
#include "03_shared_memory/gemm/swizzled_tile.cuh"

namespace stagewise::shared_memory {

//! [tile_copies]
/// This thread's copies of one factor. None of them branches: what does not exist is copied as
/// zeros. So the compiler can place them between multiplications.
///
/// Vectors are few, so each has a pointer of its own, which moves on with the k tiles. Single
/// numbers are too many for that, so threads stand in rows as long as what is stored together, and
/// a thread's copies are a fixed number of rows apart: one pointer does.
template <typename T, typename Matrix, int extent, int BK, int threads>
class TileCopies {
 public:
  using Tile = SwizzledTile<T, extent, BK, Matrix::along>;
  static constexpr int length = Tile::is_turned ? 1 : Matrix::length;

 private:
  static constexpr int neighbours = Matrix::along ? BK : extent;  ///< in memory
  static constexpr int lines = Matrix::along ? extent : BK;       ///< of as many
  static constexpr int rows = length == 1 ? threads / neighbours : 0;

 public:
  static constexpr int count =
      length == 1 ? (lines + rows - 1) / rows : (extent * BK / length + threads - 1) / threads;

  /// Begins at row or column `first`, with the k tile that begins at `step`.
  __device__ void start(const Matrix& matrix, int first, int step) {
    places_ = matrix.places - first;
#pragma unroll
    for (int i = 0; i < pointers; ++i) {
      const int wanted = first + place(i);
      // Single numbers past the edge are not loaded at all.
      const int at = length == 1 ? wanted : place_inside(wanted, matrix.places);
      from_[i] = matrix.at(at, step + this->step(i));
    }
  }

  /// Requests copy number `i` of the k tile, from the `steps` steps that there are.
  __device__ void copy(T* buffer, const Matrix& matrix, int i, int steps) {
    if (!is_mine(i)) return;
    T* const to = buffer + Tile::index(place(i), step(i));
    if constexpr (length == 1) {
      const Index line = Matrix::along ? matrix.place_stride() : matrix.step_stride();
      const bool is_inside = step(i) < steps && place(i) < places_;
      copy_async<sizeof(T)>(to, from_[0] + i * rows * line, is_inside);
    } else {
      copy_async<length * sizeof(T)>(to, from_[i], step(i) < steps);
    }
  }

  /// Moves on to the next k tile.
  __device__ void advance(const Matrix& matrix) {
#pragma unroll
    for (int i = 0; i < pointers; ++i) from_[i] += BK * matrix.step_stride();
  }

 private:
  static constexpr int pointers = length == 1 ? 1 : count;

  /// Single numbers occupy whole rows of threads, vectors all threads; the last copies may be
  /// fewer.
  static __device__ bool is_mine(int i) {
    const auto thread = static_cast<int>(threadIdx.x);
    if constexpr (length == 1) {
      const bool in_row = threads % neighbours == 0 || thread < rows * neighbours;
      return in_row && ((i + 1) * rows <= lines || thread / neighbours + i * rows < lines);
    } else {
      constexpr int all = extent * BK / length;
      return (i + 1) * threads <= all || thread + i * threads < all;
    }
  }

  /// The place and the step of copy number `i`.
  static __device__ int place(int i) {
    return Matrix::along ? line(i) : neighbour(i);
  }
  static __device__ int step(int i) {
    return Matrix::along ? neighbour(i) : line(i);
  }

  /// The same as what is stored together, and what is not.
  static __device__ int neighbour(int i) {
    constexpr unsigned vectors = neighbours / length;
    return (length == 1 ? threadIdx.x : threadIdx.x + i * threads) % vectors * length;
  }
  static __device__ int line(int i) {
    constexpr unsigned vectors = neighbours / length;
    return length == 1 ? threadIdx.x / vectors + i * rows : (threadIdx.x + i * threads) / vectors;
  }

  int places_;  ///< from the tile's first on
  const T* from_[pointers];
};
//! [tile_copies]

}  // namespace stagewise::shared_memory

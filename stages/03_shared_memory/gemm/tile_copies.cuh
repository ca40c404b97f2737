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
/// numbers are too many for that, but a thread's lie at equal distances: one pointer does.
template <typename T, typename Matrix, int extent, int BK, int threads>
class TileCopies {
 public:
  using Tile = SwizzledTile<T, extent, BK, Matrix::along>;
  static constexpr int length = Tile::is_turned ? 1 : Matrix::length;
  static constexpr int count = (extent * BK / length + threads - 1) / threads;

  /// Begins at row or column `first`, with the k tile that begins at `step`.
  __device__ void start(const Matrix& matrix, int first, int step) {
    places_ = matrix.places - first - place(0);
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
      const int places = step(0) < steps ? places_ : 0;
      copy_async<sizeof(T)>(to, from_[0] + i * jump() * matrix.place_stride(), i * jump() < places);
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

  /// All rounds except the last occupy all threads.
  static __device__ bool is_mine(int i) {
    constexpr int all = extent * BK / length;
    return (i + 1) * threads <= all || static_cast<int>(threadIdx.x) + i * threads < all;
  }

  /// How many neighbouring copies go to the same place, or to the same step if memory does not run
  /// along k. For single numbers as many as let all copies of a thread belong to the same step.
  static __device__ constexpr int width() {
    if (Matrix::along) return BK / length;
    if (length > 1) return extent / length;
    int width = 1;
    while (extent % (2 * width) == 0 && threads % (2 * width * BK) == 0) width *= 2;
    return width;
  }

  /// From the place of a thread's copy to that of the next, for single numbers.
  static __device__ constexpr int jump() {
    static_assert(length > 1 || threads % (Matrix::along ? width() : width() * BK) == 0);
    return Matrix::along ? threads / width() : threads / BK;
  }

  /// The place and the step of copy number `i`.
  static __device__ int place(int i) {
    const unsigned number = threadIdx.x + i * threads;
    constexpr unsigned wide = width();
    if constexpr (Matrix::along) return number / wide;
    return (number / (wide * BK) * wide + number % wide) * length;
  }
  static __device__ int step(int i) {
    const unsigned number = threadIdx.x + i * threads;
    constexpr unsigned wide = width();
    if constexpr (Matrix::along) return number % wide * length;
    return number / wide % BK;
  }

  int places_;  ///< from the first copy's on
  const T* from_[pointers];
};
//! [tile_copies]

}  // namespace stagewise::shared_memory

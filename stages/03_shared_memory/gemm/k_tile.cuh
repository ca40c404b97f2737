/// @file
/// How a piece of a factor is stored in shared memory.
#pragma once

#include "03_shared_memory/vector.cuh"

namespace stagewise::shared_memory {

/// A piece of a factor in shared memory: `extent` rows of A, or columns of B, and BK steps. Padding
/// by one vector keeps the rows aligned and shifts each of them by a few banks.
template <typename T, int extent_, int BK_>
struct alignas(16) KTile {
  static constexpr bool keeps_rows = false;
  static constexpr int extent = extent_;
  static constexpr int BK = BK_;
  T values[BK][extent + Vector<T>::length];

  /// Where an element is; its neighbours in `place` follow it.
  __device__ T* at(int place, int step) { return &values[step][place]; }
};

//! [row_k_tile]
/// The same transposed, for asynchronous copies: these cannot transpose a vector, so what lies
/// along k in memory remains a row. The vectors of a row are permuted (a swizzle), so that those
/// which the lanes of a warp read together are in different banks.
template <typename T, int extent_, int BK_>
struct alignas(16) RowKTile {
  static constexpr bool keeps_rows = true;
  static constexpr int extent = extent_;
  static constexpr int BK = BK_;
  static constexpr int length = Vector<T>::length;
  static constexpr int in_row = BK / length;
  static_assert((in_row & (in_row - 1)) == 0, "vectors of a row change places by exclusive or");
  T values[extent][BK];

  /// Where an element is; its neighbours in `step` follow it, up to the next multiple of `length`.
  __device__ T* at(int place, int step) {
    const int vector = (step / length) ^ (place / length % in_row);
    return &values[place][vector * length + step % length];
  }

  /// Likewise, for reading.
  __device__ const T* at(int place, int step) const {
    return const_cast<RowKTile*>(this)->at(place, step);
  }
};
//! [row_k_tile]

/// A position in a k tile.
struct KTilePlace {
  int place;
  int step;
};

/// The position of the i-th group of `length` elements that this thread loads. Neighbouring threads
/// load neighbours in memory.
template <typename KTile, int threads, int length>
__device__ KTilePlace k_tile_place(int i, bool memory_runs_along) {
  const int number = static_cast<int>(threadIdx.x) + i * threads;
  if (memory_runs_along) {
    constexpr int in_row = KTile::BK / length;
    return {number / in_row, number % in_row * length};
  }
  constexpr int in_step = KTile::extent / length;
  return {number % in_step * length, number / in_step};
}

}  // namespace stagewise::shared_memory

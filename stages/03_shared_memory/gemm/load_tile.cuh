/// @file
/// How the rungs from 6 on divide C into tiles, and how they fill shared memory: rungs 6 and 7
/// number by number, rungs 8 to 10 in vectors, on the way in registers.
#pragma once

#include "03_shared_memory/vector.cuh"
#include "cuda/launch.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// The grid of a launch with a block for each tile of a matrix: see corner_of_tile().
inline dim3 grid_of_tiles(Index rows, Index cols, int height, int width) {
  return dim3(static_cast<unsigned>(cuda::pieces(rows, height) * cuda::pieces(cols, width)));
}

/// An element of a matrix.
struct Corner {
  Index row;
  Index column;
};

/// The first element of this block's tile, in a matrix with so many columns. Tiles are numbered row
/// by row, along x, whose limit no matrix in memory reaches.
template <int height, int width>
__device__ Corner corner_of_tile(Index cols) {
  const auto across = static_cast<unsigned>(cuda::pieces(cols, width));
  return {blockIdx.x / across * Index{height}, blockIdx.x % across * Index{width}};
}

/// `extent` rows of A, or columns of B, and BK steps along k, in shared memory. The padding of 16
/// bytes keeps what the threads read together in different banks, and lets the compiler read
/// neighbours as one.
template <typename T, int extent, int BK>
struct alignas(16) PaddedTile {
  T values[BK][extent + 16 / sizeof(T)];
};

/// Loads a k tile, with zeros beyond the edges. Neighbouring threads load neighbours in memory. All
/// `threads` threads of the block call it.
/// @param data element (i, step) is data[i * row_stride + step * step_stride]; one of the strides
/// is 1.
/// @param first the tile's first row or column; `end` is one past the matrix's last.
/// @param step the tile's first step; `steps` is one past the matrix's last.
//! [load_tile]
template <int threads, int extent, int BK, typename T>
__device__ void load_tile(PaddedTile<T, extent, BK>& tile, const T* data, Index row_stride,
                          Index step_stride, Index first, Index end, Index step, Index steps) {
  const bool k_major = step_stride == 1;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < extent * BK; i += threads) {
    const int row = k_major ? i / BK : i % extent;
    const int s = k_major ? i % BK : i / extent;
    const bool is_inside = first + row < end && step + s < steps;
    tile.values[s][row] =
        is_inside ? data[(first + row) * row_stride + (step + s) * step_stride] : T{0};
  }
}
//! [load_tile]

/// Whether both factors can be loaded in vectors.
template <typename T>
bool have_vectors(const GemmProblem<T>& p) {
  return is_aligned(p.a, p.op_a == Transpose::no ? p.k : p.m) &&
         is_aligned(p.b, p.op_b == Transpose::no ? p.n : p.k);
}

/// Which elements of a tile of A or B a thread loads: groups of `length` neighbours in memory.
/// Neighbouring threads load neighbours. All `threads` threads of a block have as many groups.
/// @tparam extent the tile's rows (of A) or columns (of B); BK is its number of steps along k.
template <int threads, int extent, int BK, int length>
struct ThreadGroups {
  static constexpr int count = extent * BK / threads / length;
  static_assert(count * threads * length == extent * BK,
                "every thread must load the same number of groups");

  bool k_major;  ///< whether the memory runs along k

  /// The row or column of the i-th group within the tile.
  __device__ int row(int i) const {
    const int group = static_cast<int>(threadIdx.x) + i * threads;
    return k_major ? group / (BK / length) : group % (extent / length) * length;
  }

  /// Its step within the tile.
  __device__ int step(int i) const {
    const int group = static_cast<int>(threadIdx.x) + i * threads;
    return k_major ? group % (BK / length) * length : group / (extent / length);
  }
};

/// A thread's part of the loading of a tile: fetch() starts the loads, into registers, and put()
/// stores the values in shared memory, as tile[step][row or column], with zeros beyond the edges.
/// All threads of the block call both.
/// @tparam length how many neighbours one load takes: a vector, for which is_aligned() must
/// hold, or 1.
//! [tile_load]
template <typename T, int threads, int extent, int BK, int length>
class TileLoad {
 public:
  /// For op(A), with `end` rows, or op(B), with `end` columns, and `steps` steps along k.
  /// @param k_major whether its memory runs along k.
  __device__ TileLoad(const T* data, bool k_major, Index end, Index steps)
      : data_(data), at_{k_major}, end_(end), steps_(steps) {}

  /// Starts loading the tile that begins at row or column `first` and at step `step`.
  __device__ void fetch(Index first, Index step) {
#pragma unroll
    for (int i = 0; i < At::count; ++i) {
      const Index row = first + at_.row(i);
      const Index s = step + at_.step(i);
      const T* const from = data_ + (at_.k_major ? row * steps_ + s : s * end_ + row);
      // The neighbours of a group are either all inside or all outside.
      groups_[i] = row < end_ && s < steps_ ? *reinterpret_cast<const Group*>(from) : Group{};
    }
  }

  /// Waits for the loads that fetch() has started, and stores their values.
  template <int pitch>
  __device__ void put(T (&tile)[BK][pitch]) const {
#pragma unroll
    for (int i = 0; i < At::count; ++i) {
      T* const to = &tile[at_.step(i)][at_.row(i)];
      if (at_.k_major) {  // the group lies across the tile's rows
#pragma unroll
        for (int j = 0; j < length; ++j) to[j * pitch] = groups_[i].values[j];
      } else {
        *reinterpret_cast<Group*>(to) = groups_[i];
      }
    }
  }

 private:
  using At = ThreadGroups<threads, extent, BK, length>;
  using Group = Vector<T, length>;

  const T* data_;
  At at_;
  Index end_;
  Index steps_;
  Group groups_[At::count];
};
//! [tile_load]

}  // namespace stagewise::shared_memory

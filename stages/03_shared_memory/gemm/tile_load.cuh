/// @file
/// How rungs 8 to 10 fill shared memory: in vectors, on the way in registers.
#pragma once

#include "03_shared_memory/vector.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// Whether both factors can be loaded in vectors.
template <typename T>
bool have_vectors(const GemmProblem<T>& p) {
  return is_aligned(p.a, p.op_a == Transpose::no ? p.k : p.m) &&
         is_aligned(p.b, p.op_b == Transpose::no ? p.n : p.k);
}

/// A thread's part of the loading of a tile of A or B: fetch() starts the loads, into registers,
/// and put() stores the values in shared memory, as tile[step][row or column], with zeros beyond
/// the edges. Neighbouring threads load neighbours in memory. All `threads` threads of the block
/// call both.
/// @tparam extent the tile's rows (of A) or columns (of B); BK is its number of steps along k.
/// @tparam length how many neighbours one load takes: a vector, for which is_aligned() must
/// hold, or 1.
//! [tile_load]
template <typename T, int threads, int extent, int BK, int length>
class TileLoad {
 public:
  /// For op(A), with `end` rows, or op(B), with `end` columns, and `steps` steps along k.
  /// @param k_major whether its memory runs along k.
  __device__ TileLoad(const T* data, bool k_major, Index end, Index steps)
      : data_(data), k_major_(k_major), end_(end), steps_(steps) {}

  /// Starts loading the tile that begins at row or column `first` and at step `step`.
  __device__ void fetch(Index first, Index step) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const Index row = first + row_of(i);
      const Index s = step + step_of(i);
      const T* const from = data_ + (k_major_ ? row * steps_ + s : s * end_ + row);
      // The neighbours of a group are either all inside or all outside.
      groups_[i] = row < end_ && s < steps_ ? *reinterpret_cast<const Group*>(from) : Group{};
    }
  }

  /// Waits for the loads that fetch() has started, and stores their values.
  template <int pitch>
  __device__ void put(T (&tile)[BK][pitch]) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      T* const to = &tile[step_of(i)][row_of(i)];
      if (k_major_) {  // the group lies across the tile's rows
#pragma unroll
        for (int j = 0; j < length; ++j) to[j * pitch] = groups_[i].values[j];
      } else {
        *reinterpret_cast<Group*>(to) = groups_[i];
      }
    }
  }

 private:
  struct alignas(length * sizeof(T)) Group {
    T values[length];
  };
  static constexpr int count = extent * BK / threads / length;
  static_assert(count * threads * length == extent * BK,
                "every thread must load the same number of groups");

  /// The row or column of the i-th group within the tile.
  __device__ int row_of(int i) const {
    const int group = static_cast<int>(threadIdx.x) + i * threads;
    return k_major_ ? group / (BK / length) : group % (extent / length) * length;
  }

  /// Its step within the tile.
  __device__ int step_of(int i) const {
    const int group = static_cast<int>(threadIdx.x) + i * threads;
    return k_major_ ? group % (BK / length) * length : group / (extent / length);
  }

  const T* data_;
  bool k_major_;
  Index end_;
  Index steps_;
  Group groups_[count];
};
//! [tile_load]

}  // namespace stagewise::shared_memory

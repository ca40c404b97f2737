/// @file
/// How rungs 8 to 10 move vectors: from global to shared memory, from there to registers, and from
/// registers to C.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/vector.cuh"

namespace stagewise::shared_memory {

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
  /// For the matrix whose element (i, step) is data[i * across + step * along]; one of the strides
  /// is 1. It ends before row or column `end` and before step `steps`.
  __device__ TileLoad(const T* data, Index across, Index along, Index end, Index steps)
      : data_(data), across_(across), along_(along), end_(end), steps_(steps) {}

  /// Starts loading the tile that begins at row or column `first` and at step `step`.
  __device__ void fetch(Index first, Index step) {
    const T* const corner = data_ + first * across_ + step * along_;
    const Index places = end_ - first;
    const Index steps = steps_ - step;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int place = place_of(i);
      const int s = step_of(i);
      const T* const from = corner + place * across_ + s * along_;
      // The neighbours of a group are either all inside or all outside.
      groups_[i] = place < places && s < steps ? *reinterpret_cast<const Group*>(from) : Group{};
    }
  }

  /// Waits for the loads that fetch() has started, and stores their values.
  template <int pitch>
  __device__ void put(T (&tile)[BK][pitch]) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      T* const to = &tile[step_of(i)][place_of(i)];
      if (memory_runs_along()) {  // the group lies across the tile's rows
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

  __device__ bool memory_runs_along() const {
    return along_ == 1;
  }

  /// The row or column of the i-th group within the tile.
  __device__ int place_of(int i) const {
    const int number = static_cast<int>(threadIdx.x) + i * threads;
    return memory_runs_along() ? number / (BK / length) : number % (extent / length) * length;
  }

  /// Its step within the tile.
  __device__ int step_of(int i) const {
    const int number = static_cast<int>(threadIdx.x) + i * threads;
    return memory_runs_along() ? number % (BK / length) * length : number / (extent / length);
  }

  const T* data_;
  Index across_;
  Index along_;
  Index end_;
  Index steps_;
  Group groups_[count];
};
//! [tile_load]

/// Loads a vector from shared memory into a thread's registers.
template <typename T>
__device__ void load_vector(T* registers, const T* shared) {
  const auto vector = *reinterpret_cast<const Vector<T>*>(shared);
#pragma unroll
  for (int i = 0; i < Vector<T>::length; ++i) registers[i] = vector.values[i];
}

/// out = alpha sums + beta out, for as many elements as a vector has; `count` elements remain in
/// the row of C. With beta = 0, `out` is not read.
/// @param has_vectors whether is_aligned() holds for C; then a vector is entirely inside or
/// outside.
template <typename T>
__device__ void store_vector(T* out, const T* sums, Index count, T alpha, T beta,
                             bool has_vectors) {
  constexpr int length = Vector<T>::length;
  if (!has_vectors) {
#pragma unroll
    for (int i = 0; i < length; ++i) {
      if (i < count) out[i] = beta == 0 ? alpha * sums[i] : alpha * sums[i] + beta * out[i];
    }
  } else if (count > 0) {
    auto* const vector = reinterpret_cast<Vector<T>*>(out);
    Vector<T> result = {};
    if (beta != 0) result = *vector;
#pragma unroll
    for (int i = 0; i < length; ++i) {
      result.values[i] = beta == 0 ? alpha * sums[i] : alpha * sums[i] + beta * result.values[i];
    }
    *vector = result;
  }
}

}  // namespace stagewise::shared_memory

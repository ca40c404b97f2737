/// @file
/// What a thread loads of a k tile, through registers or directly.
#pragma once

#include "03_shared_memory/gemm/k_tile.cuh"
#include "03_shared_memory/gemm/loader.cuh"

namespace stagewise::shared_memory {

/// Whether vectors of a factor lie along k.
template <typename Loader>
constexpr bool runs_along_in_vectors() {
  if constexpr (Loader::length == 1) {
    return false;  // it may run along k, but that is only known at run time
  } else {
    return Loader::memory_runs_along();
  }
}

/// How many elements an asynchronous copy carries.
template <typename Loader, typename KTile>
constexpr int copied_at_once() {
  return runs_along_in_vectors<Loader>() && !KTile::keeps_rows ? 1 : Loader::length;
}

/// What both ways have in common: which rows or columns this thread loads.
/// @tparam length_ how many elements are loaded at once.
template <typename T, typename KTile, typename Loader, int threads, int length>
class ThreadsPart {
 public:
  static constexpr int count = KTile::extent * KTile::BK / threads / length;

  /// Determines the rows or columns of a tile that begins at `first`.
  __device__ void start(const Loader& loader, int first) {
#pragma unroll
    for (int i = 0; i < count; ++i) rows_[i] = loader.row(first + place(loader, i).place);
  }

  /// Where in the k tile the i-th group belongs.
  __device__ KTilePlace place(const Loader& loader, int i) const {
    return k_tile_place<KTile, threads, length>(i, loader.memory_runs_along());
  }

  /// Where the i-th group of the k tile that begins at `step` is in memory.
  __device__ Element<T> element(const Loader& loader, int i, int step) const {
    return loader.at(rows_[i], step + place(loader, i).step);
  }

 private:
  typename Loader::Row rows_[count];
};

}  // namespace stagewise::shared_memory

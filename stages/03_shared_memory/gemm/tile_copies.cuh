/// @file
/// A thread's asynchronous copies to a k tile, which can be requested one by one.
#pragma once

#include "03_shared_memory/gemm/copy_async.cuh"
#include "03_shared_memory/gemm/swizzled_tile.cuh"
#include "03_shared_memory/gemm/threads_part.cuh"

namespace stagewise::shared_memory {

/// Whether a loader should recompute where a row begins for each copy.
template <typename Loader>
concept ComputesRows = requires {
  Loader::computes_rows;
};

//! [tile_copies]
/// This thread's copies of one factor. None of them branches: what does not exist is copied as
/// zeros. So the compiler can place them between multiplications.
template <typename T, typename Loader, int extent, int BK, int threads>
class TileCopies {
 public:
  using Tile = SwizzledTile<T, extent, BK, runs_along_in_vectors<Loader>()>;
  static constexpr int count = (extent * BK / Loader::length + threads - 1) / threads;

  /// Begins a tile at row or column `first`, with the k tile that begins at `step`.
  __device__ void start(const Loader& loader, int first, int step) {
    first_ = first;
    if constexpr (!ComputesRows<Loader>) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (is_mine(i)) rows_[i] = loader.row(first + place(loader, i).place);
      }
    }
    look_up(loader, step);
  }

  /// Requests copy number `i` of the k tile that begins at `step`.
  __device__ void copy(T* buffer, const Loader& loader, int i, int step) {
    if (!is_mine(i)) return;
    const auto [place, s] = this->place(loader, i);
    const Element<T> from = element(loader, row(loader, i, place), i, step + s);
    copy_async<Loader::length * sizeof(T)>(buffer + Tile::index(place, s), from.address,
                                           from.is_inside);
  }

  /// Looks up the addresses of the next k tile's steps, if the loader has to.
  __device__ void look_up(const Loader& loader, int step) {
    if constexpr (LooksUp<Loader>) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (is_mine(i)) steps_[i] = loader.step(step + place(loader, i).step);
      }
    }
  }

 private:
  /// All rounds except the last occupy all threads.
  static __device__ bool is_mine(int i) {
    constexpr int all = extent * BK / Loader::length;
    return (i + 1) * threads <= all || static_cast<int>(threadIdx.x) + i * threads < all;
  }

  __device__ KTilePlace place(const Loader& loader, int i) const {
    return k_tile_place<Tile, threads, Loader::length>(i, loader.memory_runs_along());
  }

  __device__ typename Loader::Row row(const Loader& loader, int i, int place) const {
    if constexpr (ComputesRows<Loader>) {
      return loader.row(first_ + place);
    } else {
      return rows_[i];
    }
  }

  __device__ Element<T> element(const Loader& loader, const typename Loader::Row& row, int i,
                                int step) const {
    if constexpr (LooksUp<Loader>) {
      return loader.at(row, step, steps_[i]);
    } else {
      return loader.at(row, step);
    }
  }

  int first_;
  typename Loader::Row rows_[count];
  StepOf<Loader> steps_[count];
};
//! [tile_copies]

}  // namespace stagewise::shared_memory

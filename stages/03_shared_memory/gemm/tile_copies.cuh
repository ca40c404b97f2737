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
  static constexpr int length = Loader::length;
  static constexpr bool along = Loader::memory_runs_along();
  using Tile = SwizzledTile<T, extent, BK, along>;
  static constexpr int count = (extent * BK / length + threads - 1) / threads;

  /// Begins a tile at row or column `first`, with the k tile that begins at `step`.
  __device__ void start(const Loader& loader, int first, int step) {
    first_ = first;
    if constexpr (!ComputesRows<Loader>) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (is_mine(i)) rows_[i] = loader.row(first + place(i).place);
      }
    }
    prepare(loader, step);
  }

  /// Requests copy number `i` of the k tile that begins at `step`.
  __device__ void copy(T* buffer, const Loader& loader, int i, int step) {
    if (!is_mine(i)) return;
    const auto [place, s] = this->place(i);
    const Element<T> from = element(loader, row(loader, i, place), i, step + s);
    copy_async<length * sizeof(T)>(buffer + Tile::index(place, s), from.address, from.is_inside);
  }

  /// Prepares the copies of the k tile that begins at `step`: looks up the addresses of its steps,
  /// if the loader has to.
  __device__ void prepare(const Loader& loader, int step) {
    // The compiler must not keep what it has computed of the rows: it believes that this changes.
    if constexpr (ComputesRows<Loader>) asm volatile("" : "+r"(first_));
    if constexpr (LooksUp<Loader>) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (is_mine(i)) steps_[i] = loader.step(step + place(i).step);
      }
    }
  }

 private:
  /// All rounds except the last occupy all threads.
  static __device__ bool is_mine(int i) {
    constexpr int all = extent * BK / length;
    return (i + 1) * threads <= all || static_cast<int>(threadIdx.x) + i * threads < all;
  }

  /// How many neighbours of a step the threads copy before they go on to the next step: so many
  /// that all copies of a thread belong to the same step, and none takes a division.
  static constexpr int width() {
    if (length > 1) return extent / length;
    int width = 1;
    while (extent % (2 * width) == 0 && threads % (2 * width * BK) == 0) width *= 2;
    return width;
  }

  /// The place and the step of copy number `i`.
  static __device__ KTilePlace place(int i) {
    const int number = static_cast<int>(threadIdx.x) + i * threads;
    if constexpr (along) {
      constexpr int in_row = BK / length;
      return {number / in_row, number % in_row * length};
    } else {
      constexpr int wide = width();
      return {(number / (wide * BK) * wide + number % wide) * length, number / wide % BK};
    }
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

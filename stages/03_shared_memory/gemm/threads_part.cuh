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

/// Whether a loader has to look up the address of a step in memory.
template <typename Loader>
concept LooksUp = requires {
  typename Loader::Step;
};

/// What a loader finds by looking up a step; an empty type if it does not look up anything.
struct NoStep {};
template <typename Loader>
struct StepType {
  using Type = NoStep;
};
template <LooksUp Loader>
struct StepType<Loader> {
  using Type = typename Loader::Step;
};
template <typename Loader>
using StepOf = typename StepType<Loader>::Type;

/// What both ways have in common: which rows or columns this thread loads.
/// @tparam length_ how many elements are loaded at once.
template <typename T, typename KTile, typename Loader, int threads, int length>
class ThreadsPart {
 public:
  static constexpr int count = KTile::extent * KTile::BK / threads / length;

  /// Determines the rows or columns of a tile that begins at `first`, whose first k tile begins at
  /// `step`.
  __device__ void start(const Loader& loader, int first, int step) {
#pragma unroll
    for (int i = 0; i < count; ++i) rows_[i] = loader.row(first + place(loader, i).place);
    look_up(loader, step);
  }

  /// Where in the k tile the i-th group belongs.
  __device__ KTilePlace place(const Loader& loader, int i) const {
    return k_tile_place<KTile, threads, length>(i, loader.memory_runs_along());
  }

  /// Where the i-th group of the k tile that begins at `step` is in memory.
  __device__ Element<T> element(const Loader& loader, int i, int step) const {
    if constexpr (LooksUp<Loader>) {
      return loader.at(rows_[i], step + place(loader, i).step, steps_[i]);
    } else {
      return loader.at(rows_[i], step + place(loader, i).step);
    }
  }

  //! [look_up]
  /// Looks up the steps of the k tile that begins at `step`, one k tile before they are needed, so
  /// that no copy waits for its address.
  __device__ void look_up(const Loader& loader, int step) {
    if constexpr (LooksUp<Loader>) {
#pragma unroll
      for (int i = 0; i < count; ++i) steps_[i] = loader.step(step + place(loader, i).step);
    }
  }
  //! [look_up]

 private:
  typename Loader::Row rows_[count];
  StepOf<Loader> steps_[count];
};

}  // namespace stagewise::shared_memory

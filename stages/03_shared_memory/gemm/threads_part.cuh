/// @file
/// What a thread loads of a panel, whichever way it takes.
#pragma once

#include "03_shared_memory/gemm/loader.cuh"
#include "03_shared_memory/gemm/panel.cuh"

namespace stagewise::shared_memory {

/// Whether vectors of a factor lie along k.
template <typename Loader>
constexpr bool runs_along_in_vectors() {
  if constexpr (Loader::length == 1) {
    return false;  // it may run along k, but that shows when the kernel runs
  } else {
    return Loader::memory_runs_along();
  }
}

/// How many elements an asynchronous copy carries.
template <typename Loader, typename Panel>
constexpr int copied_at_once() {
  return runs_along_in_vectors<Loader>() && !Panel::keeps_rows ? 1 : Loader::length;
}

/// Whether a loader has to look up in memory where a step is.
template <typename Loader>
concept LooksUp = requires {
  typename Loader::Step;
};

/// What both have in common: which rows or columns this thread loads from.
/// @tparam length_ how many elements at once.
template <typename T, typename Panel, typename Loader, int threads, int length>
class ThreadsPart {
 public:
  static constexpr int count = Panel::extent * Panel::depth / threads / length;

  /// Works out the rows or columns of a tile that begins at `first`, whose first panel begins at
  /// `step`.
  __device__ void start(const Loader& loader, int first, int step) {
#pragma unroll
    for (int i = 0; i < count; ++i) rows_[i] = loader.row(first + place(loader, i).place);
    look_up(loader, step);
  }

  /// Where in the panel the i-th group belongs.
  __device__ PanelPlace place(const Loader& loader, int i) const {
    return panel_place<Panel, threads, length>(i, loader.memory_runs_along());
  }

  /// Where the i-th group of the panel that begins at `step` is in memory.
  __device__ Element<T> element(const Loader& loader, int i, int step) const {
    if constexpr (LooksUp<Loader>) {
      return loader.at(rows_[i], step + place(loader, i).step, steps_[i]);
    } else {
      return loader.at(rows_[i], step + place(loader, i).step);
    }
  }

  //! [look_up]
  /// Looks up the steps of the panel that begins at `step`: one panel before they are needed, so
  /// that no copy waits for its address.
  __device__ void look_up(const Loader& loader, int step) {
    if constexpr (LooksUp<Loader>) {
#pragma unroll
      for (int i = 0; i < count; ++i) steps_[i] = loader.step(step + place(loader, i).step);
    }
  }
  //! [look_up]

 private:
  struct Nothing {};
  template <typename L>
  struct StepOf {
    using Type = Nothing;
  };
  template <LooksUp L>
  struct StepOf<L> {
    using Type = typename L::Step;
  };

  typename Loader::Row rows_[count];
  typename StepOf<Loader>::Type steps_[count];
};

}  // namespace stagewise::shared_memory

/// @file
/// Two ways from global to shared memory for the main loop: through registers, or past them.
///
/// Both are types with the same functions: start() for a tile, fetch() asks for this thread's part
/// of a panel, commit() ends what belongs together, wait() comes before a panel is read, put()
/// after the panel before it has been multiplied.
#pragma once

#include <type_traits>

#include <cuda_pipeline_primitives.h>

#include "03_shared_memory/gemm/loader.cuh"

namespace stagewise::shared_memory {

/// A piece of a factor in shared memory: `extent` rows of A, or columns of B, and `depth` steps.
/// The padding of a vector keeps the rows aligned and moves each on by some banks.
template <typename T, int extent_, int depth_>
struct alignas(16) Panel {
  static constexpr bool keeps_rows = false;
  static constexpr int extent = extent_;
  static constexpr int depth = depth_;
  T values[depth][extent + Vector<T>::length];

  /// Where an element is; its neighbours in `place` follow it.
  __device__ T* at(int place, int step) { return &values[step][place]; }
};

//! [row_panel]
/// The same the other way round, for asynchronous copies: they cannot turn a vector around, so what
/// lies along k in memory stays so. The vectors of a row change places, by a rule that moves those
/// which the lanes of a warp read together to different banks.
template <typename T, int extent_, int depth_>
struct alignas(16) RowPanel {
  static constexpr bool keeps_rows = true;
  static constexpr int extent = extent_;
  static constexpr int depth = depth_;
  static constexpr int length = Vector<T>::length;
  static constexpr int in_row = depth / length;
  static_assert((in_row & (in_row - 1)) == 0, "vectors of a row change places by exclusive or");
  T values[extent][depth];

  /// Where an element is; its neighbours in `step` follow it, up to the next multiple of `length`.
  __device__ T* at(int place, int step) {
    const int vector = (step / length) ^ (place / length % in_row);
    return &values[place][vector * length + step % length];
  }

  /// Likewise, to read.
  __device__ const T* at(int place, int step) const {
    return const_cast<RowPanel*>(this)->at(place, step);
  }
};
//! [row_panel]

/// Where in a panel something belongs.
struct PanelPlace {
  int place;
  int step;
};

/// Where the i-th group of `length` elements that this thread loads belongs. Neighbouring threads
/// load neighbours in memory.
template <typename Panel, int threads, int length>
__device__ PanelPlace panel_place(int i, bool memory_runs_along) {
  const int number = static_cast<int>(threadIdx.x) + i * threads;
  if (memory_runs_along) {
    constexpr int in_row = Panel::depth / length;
    return {number / in_row, number % in_row * length};
  }
  constexpr int in_step = Panel::extent / length;
  return {number % in_step * length, number / in_step};
}

constexpr int register_stages = 2;  ///< panels of a factor in shared memory, with RegisterCopies
constexpr int async_stages = 3;     ///< likewise with AsyncCopies

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

//! [register_copies]
/// Rung 8: fetch() starts loads into registers, which take their time; put() stores what has come
/// into shared memory. In between the thread multiplies.
template <typename T, typename Panel, typename Loader, int threads>
class RegisterCopies {
 public:
  /// Begins a tile at row or column `first`, with the panel that begins at `step`.
  __device__ void start(const Loader& loader, int first, int step) {
    part_.start(loader, first, step);
  }

  /// Starts to load this thread's part of the panel that begins at `step`.
  __device__ void fetch(Panel& /*panel*/, const Loader& loader, int step) {
#pragma unroll
    for (int i = 0; i < Part::count; ++i) {
      const Element<T> from = part_.element(loader, i, step);
      values_[i] = from.is_inside ? *reinterpret_cast<const Group*>(from.address) : Group{};
    }
    part_.look_up(loader, step + Panel::depth);
  }

  /// Stores what fetch() has loaded.
  __device__ void put(Panel& panel, const Loader& loader) {
#pragma unroll
    for (int i = 0; i < Part::count; ++i) {
      const auto [place, s] = part_.place(loader, i);
      if (loader.memory_runs_along()) {  // the group lies across the panel's rows
#pragma unroll
        for (int j = 0; j < length; ++j) panel.values[s + j][place] = values_[i].values[j];
      } else {
        *reinterpret_cast<Group*>(&panel.values[s][place]) = values_[i];
      }
    }
  }

  /// Nothing: loads need not be told apart.
  static __device__ void commit() {}

  /// Nothing: who uses a register waits for it.
  static __device__ void wait() {}

 private:
  static constexpr int length = Loader::length;
  using Part = ThreadsPart<T, Panel, Loader, threads, length>;
  struct alignas(length * sizeof(T)) Group {
    T values[length];
  };
  Part part_;
  Group values_[Part::count];
};
//! [register_copies]

//! [async_copies]
/// Rung 9: fetch() asks for copies that go to shared memory by themselves; wait() waits for those
/// that were asked for first.
template <typename T, typename Panel, typename Loader, int threads>
class AsyncCopies {
 public:
  /// Begins a tile at row or column `first`, with the panel that begins at `step`.
  __device__ void start(const Loader& loader, int first, int step) {
    part_.start(loader, first, step);
  }

  /// Asks for this thread's part of the panel that begins at `step`.
  __device__ void fetch(Panel& panel, const Loader& loader, int step) {
#pragma unroll
    for (int i = 0; i < Part::count; ++i) {
      const auto [place, s] = part_.place(loader, i);
      const Element<T> from = part_.element(loader, i, step);
      constexpr std::size_t bytes = length * sizeof(T);
      __pipeline_memcpy_async(panel.at(place, s), from.address, bytes,
                              from.is_inside ? 0 : bytes);  // so many are zeros
    }
    part_.look_up(loader, step + Panel::depth);
  }

  /// Nothing: the copies have gone to shared memory by themselves.
  __device__ void put(Panel& /*panel*/, const Loader& /*loader*/) {}

  /// What was asked for since the last call belongs together.
  static __device__ void commit() {
    __pipeline_commit();
  }

  /// Waits for all panels but the latest that are still to come.
  static __device__ void wait() {
    __pipeline_wait_prior(async_stages - 2);
  }

 private:
  static constexpr int length = copied_at_once<Loader, Panel>();
  using Part = ThreadsPart<T, Panel, Loader, threads, length>;
  Part part_;
};
//! [async_copies]

//! [panel_for]
/// The kind of panel that suits a way to copy and a loader. Two vectors a row are too few to keep
/// lanes apart by changing their places; then single elements are copied, and turned around.
template <template <typename, typename, typename, int> class Copies, typename T, typename Loader,
          int extent, int depth>
struct PanelFor {
  using Type = Panel<T, extent, depth>;
};
template <typename T, typename Loader, int extent, int depth>
struct PanelFor<AsyncCopies, T, Loader, extent, depth> {
  static constexpr bool has_enough = depth / Vector<T>::length >= 4;
  using Type = std::conditional_t<has_enough && runs_along_in_vectors<Loader>(),
                                  RowPanel<T, extent, depth>, Panel<T, extent, depth>>;
};
//! [panel_for]

}  // namespace stagewise::shared_memory

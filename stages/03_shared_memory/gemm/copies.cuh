/// @file
/// Two ways from global to shared memory for the main loop: through registers, or directly.
///
/// Both are types with the same functions: start() begins a tile, fetch() requests this thread's
/// part of a k tile, commit() groups the requests made so far, wait() is called before a k tile is
/// read, and put() after the previous k tile has been multiplied.
#pragma once

#include <type_traits>

#include "03_shared_memory/gemm/copy_async.cuh"
#include "03_shared_memory/gemm/threads_part.cuh"

namespace stagewise::shared_memory {

constexpr int register_stages = 2;  ///< k tiles of a factor in shared memory, with RegisterCopies
constexpr int async_stages = 3;     ///< likewise with AsyncCopies

//! [register_copies]
/// Rung 11: fetch() starts loads into registers; put() stores the loaded values in shared memory.
/// In between, the thread multiplies.
template <typename T, typename KTile, typename Loader, int threads>
class RegisterCopies {
 public:
  /// Begins a tile at row or column `first`.
  __device__ void start(const Loader& loader, int first) { part_.start(loader, first); }

  /// Starts to load this thread's part of the k tile that begins at `step`.
  __device__ void fetch(KTile& /*k_tile*/, const Loader& loader, int step) {
#pragma unroll
    for (int i = 0; i < Part::count; ++i) {
      const Element<T> from = part_.element(loader, i, step);
      values_[i] = from.is_inside ? *reinterpret_cast<const Group*>(from.address) : Group{};
    }
  }

  /// Stores what fetch() has loaded.
  __device__ void put(KTile& k_tile, const Loader& loader) {
#pragma unroll
    for (int i = 0; i < Part::count; ++i) {
      const auto [place, s] = part_.place(loader, i);
      if (loader.memory_runs_along()) {  // the group lies across the k tile's rows
#pragma unroll
        for (int j = 0; j < length; ++j) k_tile.values[s + j][place] = values_[i].values[j];
      } else {
        *reinterpret_cast<Group*>(&k_tile.values[s][place]) = values_[i];
      }
    }
  }

  /// Nothing: loads need no grouping.
  static __device__ void commit() {}

  /// Nothing: the use of a register waits for its load.
  static __device__ void wait() {}

 private:
  static constexpr int length = Loader::length;
  using Part = ThreadsPart<T, KTile, Loader, threads, length>;
  struct alignas(length * sizeof(T)) Group {
    T values[length];
  };
  Part part_;
  Group values_[Part::count];
};
//! [register_copies]

//! [async_copies]
/// Rung 12: fetch() requests asynchronous copies to shared memory; wait() waits for the oldest of
/// them.
template <typename T, typename KTile, typename Loader, int threads>
class AsyncCopies {
 public:
  /// Begins a tile at row or column `first`.
  __device__ void start(const Loader& loader, int first) { part_.start(loader, first); }

  /// Requests this thread's part of the k tile that begins at `step`.
  __device__ void fetch(KTile& k_tile, const Loader& loader, int step) {
#pragma unroll
    for (int i = 0; i < Part::count; ++i) {
      const auto [place, s] = part_.place(loader, i);
      const Element<T> from = part_.element(loader, i, step);
      copy_async<length * sizeof(T)>(k_tile.at(place, s), from.address, from.is_inside);
    }
  }

  /// Nothing: the copies write to shared memory by themselves.
  __device__ void put(KTile& /*k_tile*/, const Loader& /*loader*/) {}

  /// Groups the copies requested since the last call.
  static __device__ void commit() {
    __pipeline_commit();
  }

  /// Waits for all k tiles except the latest ones, which may still be in flight.
  static __device__ void wait() {
    __pipeline_wait_prior(async_stages - 2);
  }

 private:
  static constexpr int length = copied_at_once<Loader, KTile>();
  using Part = ThreadsPart<T, KTile, Loader, threads, length>;
  Part part_;
};
//! [async_copies]

//! [k_tile_for]
/// The kind of k tile that suits a way to copy and a loader. A row of only two vectors is too short
/// for a swizzle to avoid bank conflicts; then single elements are copied and transposed.
template <template <typename, typename, typename, int> class Copies, typename T, typename Loader,
          int extent, int BK>
struct KTileFor {
  using Type = KTile<T, extent, BK>;
};
template <typename T, typename Loader, int extent, int BK>
struct KTileFor<AsyncCopies, T, Loader, extent, BK> {
  static constexpr bool has_enough = BK / Vector<T>::length >= 4;
  using Type = std::conditional_t<has_enough && runs_along_in_vectors<Loader>(),
                                  RowKTile<T, extent, BK>, KTile<T, extent, BK>>;
};
//! [k_tile_for]

}  // namespace stagewise::shared_memory

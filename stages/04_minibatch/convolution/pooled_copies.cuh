/// @file
/// Asynchronous copies that work out a step once a k tile.
///
/// Stage 03's copies ask the loader for every element anew: which row and which step is it, and
/// where is that? Two divisions each, which for 32 output channels are nearly as many instructions
/// as the multiplications that the element takes part in. Here the threads lie on a k tile so that
/// each stays at one step, and goes down the rows:
///
///     k tile   step 0    1    2  ...                 BK = 8, 64 threads
///     row 0    thread 0  1    2  ...  7
///     row 1           8  9   10  ... 15
///     ...
///     row 8    thread 0 again, at step 0
///
/// So the divisions are done once a k tile, and an element takes an addition and its copy.
///
/// Run it: `stage04_minibatch train --model cnn`.
/// Bytes: as with stage 03's copies. Operations: 2 divisions a thread and k tile instead of 2 an
/// element; a thread has 16 elements of a k tile in most tiles.
#pragma once

#include "03_shared_memory/gemm/copies.cuh"
#include "04_minibatch/convolution/pooled_windows.cuh"

namespace stagewise::minibatch {

/// The other factor, the filters, comes as in stage 03.
template <typename T, typename KTile, typename Loader, int threads>
class PooledCopies : public shared_memory::AsyncCopies<T, KTile, Loader, threads> {};

//! [pooled_copies]
/// See copies.cuh of stage 03 for what the functions are there for.
template <typename T, typename KTile, int threads>
class PooledCopies<T, KTile, PooledWindows<T>, threads> {
 public:
  /// Begins a tile at row `first`.
  __device__ void start(const PooledWindows<T>& windows, int first) {
#pragma unroll
    for (int i = 0; i < count; ++i) rows_[i] = windows.row(first + place(i));
  }

  /// Asks for this thread's part of the k tile that begins at `step`; zeros past the last step.
  __device__ void fetch(KTile& k_tile, const PooledWindows<T>& windows, int step) {
    const int s = static_cast<int>(threadIdx.x % KTile::BK);
    T* const to = &k_tile.values[s][place(0)];
    if (step + s < windows.steps()) {
      const int offset = windows.from_first(step + s);
#pragma unroll
      for (int i = 0; i < count; ++i) {
        __pipeline_memcpy_async(to + i * apart, windows.input() + (rows_[i] + offset), sizeof(T));
      }
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i) to[i * apart] = T{0};
    }
  }

  /// Nothing: the copies have gone to shared memory by themselves.
  __device__ void put(KTile& /*k_tile*/, const PooledWindows<T>& /*windows*/) {}

  /// What was asked for since the last call belongs together.
  static __device__ void commit() {
    __pipeline_commit();
  }

  /// Waits for all k tiles but the latest that are still to come.
  static __device__ void wait() {
    __pipeline_wait_prior(shared_memory::async_stages - 2);
  }

 private:
  static constexpr int apart = threads / KTile::BK;  // from a thread's row to its next
  static constexpr int count = KTile::extent / apart;
  static_assert(threads % KTile::BK == 0 && KTile::extent % apart == 0,
                "a thread must stay at one step of the k tile");

  /// The row, within the tile, of this thread's i-th element.
  static __device__ int place(int i) {
    return static_cast<int>(threadIdx.x / KTile::BK) + i * apart;
  }

  int rows_[count];
};
//! [pooled_copies]

}  // namespace stagewise::minibatch

/// @file
/// The next batch's rows, on their way to shared memory while this batch is computed with.
///
/// To request a hundred rows in vectors of 16 bytes takes every thread several instructions, more
/// time than they take to arrive. Since compute capability 9.0 one instruction requests a run of
/// any length (a **bulk copy**), and a barrier in shared memory counts the bytes that arrive: a
/// thread requests a row. Meanwhile, the others multiply: if the product leaves warps idle, these
/// request all rows.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "03_shared_memory/vector.cuh"
#include "ladders/gemm/hopper/mbarrier.cuh"
#include "ladders/persistent/training/slice.cuh"

namespace stagewise::minibatch::persistent {

using shared_memory::Mbarrier;

/// Whether the device has bulk copies.
__device__ constexpr bool has_bulk_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  return true;
#else
  return false;
#endif
}

//! [bulk_copies]
/// Makes what this thread has stored in shared memory come before bulk copies to the same place.
inline __device__ void order_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Requests a copy to shared memory, whose bytes the barrier counts; addresses and size are
/// multiples of 16 bytes.
inline __device__ void copy_bytes(void* to, const void* from, int bytes, Mbarrier& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_memory::shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_memory::shared_address(&barrier))
               : "memory");
}
//! [bulk_copies]

//! [fetch]
/// Fetches a block's slice of the batches, and the labels of its own rows.
template <typename T>
class BatchFetch {
 public:
  /// All threads of the block construct one, and meet at a barrier before they use it.
  /// @param busy_threads how many threads, from the first on, multiply next.
  __device__ BatchFetch(const Slice<T>& slice, Mbarrier* barrier, int busy_threads)
      : mlp_(slice.p.mlp), slice_(slice), barrier_(barrier) {
    const int first_idle = (busy_threads + 31) / 32;
    first_warp_ = first_idle < static_cast<int>(blockDim.x) / 32 ? first_idle : 0;
    const auto begin = reinterpret_cast<std::uintptr_t>(mlp_.features);
    has_vectors_ = begin % 16 == 0 && mlp_.shape.in % Slice<T>::length == 0;
    if constexpr (has_bulk_copies()) {
      if (threadIdx.x == 0) barrier->init(1);
      order_stores();
    }
    for_each(slice.sizes.rows, [&](int row) { slice.samples(0)[row] = mlp_.order[row]; });
  }

  /// Requests a batch, and the numbers of the next batch's samples.
  __device__ void start(Index step) {
    if (!has_vectors_) {
      copy_pieces<1>(step);
    } else if constexpr (has_bulk_copies()) {
      copy_rows(step);
    } else {
      copy_pieces<Slice<T>::length>(step);
    }
    const std::uint32_t* const samples = slice_.samples(step);
    std::int32_t* const labels = slice_.labels(step);
    for_each(slice_.own_rows, [&](int i) {
      shared_memory::copy_async<4>(labels + i, mlp_.labels + samples[slice_.first_row + i], true);
    });
    if (step + 1 < mlp_.steps) {
      const std::uint32_t* const order = mlp_.order + (step + 1) * slice_.sizes.rows;
      std::uint32_t* const next = slice_.samples(step + 1);
      for_each(slice_.sizes.rows, [&](int row) { shared_memory::copy_async<4>(next + row, order + row, true); });
    }
    __pipeline_commit();
  }

  /// Waits for them; behind the next barrier, all threads have them.
  __device__ void finish(Index step) {
    __pipeline_wait_prior(0);
    if constexpr (has_bulk_copies()) {
      if (has_vectors_ && slice_.input_count > 0) barrier_->wait(static_cast<unsigned>(step % 2));
    }
  }

 private:
  /// A thread requests a whole row. The requests of a warp's lanes come one after another, so each
  /// of the warps gets some.
  __device__ void copy_rows(Index step) {
    const int bytes = slice_.input_count * static_cast<int>(sizeof(T));
    if (bytes == 0) return;
    const int thread = static_cast<int>(threadIdx.x) - 32 * first_warp_;
    if (thread < 0) return;
    if (thread == 0) barrier_->arrive_and_expect(static_cast<unsigned>(slice_.sizes.rows * bytes));
    const std::uint32_t* const samples = slice_.samples(step);
    T* const to = slice_.input(step);
    const int threads = static_cast<int>(blockDim.x) - 32 * first_warp_;
    const int first = thread % 32 * (threads / 32) + thread / 32;
    for (int row = first; row < slice_.sizes.rows; row += threads) {
      const T* const from = mlp_.features + samples[row] * mlp_.shape.in + slice_.first_input;
      copy_bytes(to + row * slice_.sizes.k_stride, from, bytes, *barrier_);
    }
  }

  /// A warp requests a row in pieces of so many numbers.
  template <int piece>
  __device__ void copy_pieces(Index step) {
    const std::uint32_t* const samples = slice_.samples(step);
    T* const to = slice_.input(step);
    const int pieces = slice_.input_count / piece;
    const auto thread = static_cast<int>(threadIdx.x);
    for (int row = thread / 32; row < slice_.sizes.rows; row += static_cast<int>(blockDim.x) / 32) {
      const T* const from = mlp_.features + samples[row] * mlp_.shape.in + slice_.first_input;
      for (int i = thread % 32; i < pieces; i += 32) {
        shared_memory::copy_async<piece * sizeof(T)>(to + row * slice_.sizes.k_stride + i * piece, from + i * piece,
                                                     true);
      }
    }
  }

  const Mlp<T>& mlp_;
  const Slice<T>& slice_;
  Mbarrier* barrier_;
  int first_warp_;  ///< of those that request
  bool has_vectors_;
};
//! [fetch]

}  // namespace stagewise::minibatch::persistent

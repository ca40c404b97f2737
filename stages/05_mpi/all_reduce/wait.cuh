/// @file
/// Waiting for another GPU, but not for ever.
#pragma once

#include "05_mpi/all_reduce/peer_memory.cuh"

namespace stagewise::mpi {

/// Nanoseconds since some time.
__device__ inline std::int64_t now() {
#ifdef __CUDA_ARCH__
  std::int64_t time = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
#else
  return clock64();
#endif
}

//! [wait]
/// A thread's wait for what another GPU writes. The thread looks again and again; each time that it
/// has looked in vain, it asks whether to give up.
class Wait {
 public:
  __device__ explicit Wait(const Patience& patience) : patience_(patience) {}

  /// Seldom looks at the clock and into the host's memory, which take much longer than to look at
  /// what is waited for.
  /// @param rank the one that this thread waits for.
  __device__ bool is_over(int rank) {
#ifdef __CUDA_ARCH__
    constexpr unsigned looks_a_check = 4096;  // some milliseconds
#else
    constexpr unsigned looks_a_check = 16;  // on a CPU, all other threads look between two looks
    __nanosleep(0);                         // which lets them run
#endif
    if (++looks_ % looks_a_check != 0) return false;
    const SharedWord<unsigned> lost(*patience_.lost);
    if (lost.load(::cuda::memory_order_relaxed) != 0) return true;
    if (looks_ == looks_a_check) begin_ = now();
    if (now() - begin_ < patience_.nanoseconds) return false;
    lost.store(static_cast<unsigned>(rank) + 1, ::cuda::memory_order_relaxed);
    return true;
  }

 private:
  const Patience& patience_;
  unsigned looks_ = 0;
  std::int64_t begin_ = 0;
};
//! [wait]

//! [numbers]
/// The numbers of sums count how many there have been. A number is the same on all ranks, since all
/// begin the same sums; it is kept in the GPU's memory, where a recorded kernel finds another one
/// each time that it is repeated.
///
/// There is one copy for each block that a grid may have. Block b reads copy b, and at its end
/// writes copies b, b + blocks, b + 2 blocks, ...: all copies count every sum, whatever the size of
/// its grid, and no block writes what another still reads.
/// @return the number of this sum; 0 if a sum before has not been finished.
template <typename Number>
__device__ Number number_of_sum(const Number* numbers) {
  constexpr auto none = static_cast<Number>(-1);  // where a sum before has been given up
  const Number last = numbers[blockIdx.x];
  if (last == none) return 0;
  return last + 1 == none ? 1 : last + 1;  // odd after even
}

/// Counts a sum. All threads of the block call this, after a barrier behind which all have their
/// number.
/// @param number that of the sum; 0 if it was not finished.
template <typename Number>
__device__ void count_sum(Number* numbers, Number number) {
  for (unsigned i = blockIdx.x + threadIdx.x * gridDim.x; i < max_sum_blocks;
       i += blockDim.x * gridDim.x) {
    numbers[i] = number == 0 ? static_cast<Number>(-1) : number;
  }
}
//! [numbers]

}  // namespace stagewise::mpi

/// @file
/// The tree of rung 6, "shuffles": warps add up in registers.
///
/// Rung 5's warp sent every intermediate sum through shared memory. A shuffle hands a register's
/// value directly to another lane of the warp: one instruction instead of a store, a wait and a
/// load. All warps add up their 32 values this way, and the first one then adds up the sums of the
/// warps, at most 32 as a block has at most 1,024 threads. One barrier is left.
///
/// Run it: `ladder reduce --rung shuffles`.
/// Work: 1 barrier; 256 threads shuffle 5 times, the first warp 10 times; shared memory holds 8
/// sums.
/// Measured on an H200, 2^20 numbers: 5.04 us in float, 5.47 us in double.
/// Measured on an H200, the columns of 10,000 x 256: 16.4 us in float, 16.3 us in double.
#pragma once

#include "03_shared_memory/warp.cuh"

namespace stagewise::shared_memory {

//! [warp_sum]
/// The sum over the 32 lanes of a warp, which all call this. Only lane 0 gets it: who asks for a
/// lane beyond the last one is given back its own value.
template <typename T>
__device__ T warp_sum(T value) {
#pragma unroll
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(all_lanes, value, offset);
  }
  return value;
}
//! [warp_sum]

/// See tree.cuh.
struct Shuffles {
  //! [shuffles]
  template <typename T>
  static __device__ void add_up(T* partial) {
    const unsigned t = threadIdx.x;
    // Each thread reads its own element and each warp writes into its own 32, so no barrier is
    // needed yet. Side by side, the sums would lie in the elements of warp 0, and it might still be
    // reading.
    const T of_warp = warp_sum(partial[t]);
    if (t % 32 == 0) partial[t] = of_warp;
    __syncthreads();
    if (t >= 32) return;
    const T of_block = warp_sum(t < blockDim.x / 32 ? partial[32 * t] : T{0});
    if (t == 0) partial[0] = of_block;
  }
  //! [shuffles]
};

}  // namespace stagewise::shared_memory

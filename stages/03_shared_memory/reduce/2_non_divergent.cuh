/// @file
/// The tree of rung 2, "non-divergent": the same pairs, added by threads that are neighbours.
///
/// Rung 1 scattered the working threads over all warps. Here, thread t looks after the t-th pair,
/// so that the working threads are always the first ones: whole warps work or are done, and no
/// division is needed.
///
///     stride 1:  thread 0: p0 += p1   thread 1: p2 += p3   thread 2: p4 += p5   thread 3: p6 += p7
///     stride 2:  thread 0: p0 += p2   thread 1: p4 += p6
///     stride 4:  thread 0: p0 += p4
///
/// What is slow now: neighbouring threads use elements that lie 2, 4, ... apart. Shared memory has
/// 32 banks, one a word, and the threads of a warp that want different words of one bank are served
/// one after the other: at stride 1 two at a time, at stride 16 all the 8 that still work in a
/// block of 256.
///
/// Run it: `ladder reduce --rung non-divergent`.
/// Work: as rung 1; the additions of a step take a half, a quarter, ... of the warps.
/// Measured on an H200, 2^20 numbers: 10.1 us in float, 12.3 us in double.
/// Measured on an H200, the columns of 10,000 x 256: 16.8 us in float, 17.1 us in double.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

/// See tree.cuh.
struct NonDivergent {
  //! [non_divergent]
  template <typename T>
  static __device__ void add_up(T* partial) {
    __syncthreads();  // every thread has written its own
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
      const unsigned left = 2 * stride * threadIdx.x;
      if (left < blockDim.x) partial[left] += partial[left + stride];
      __syncthreads();  // the next step reads what this one has written
    }
  }
  //! [non_divergent]
};

}  // namespace stagewise::shared_memory

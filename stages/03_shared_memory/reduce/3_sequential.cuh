/// @file
/// The tree of rung 3, "sequential": halves instead of neighbours.
///
/// Rung 2 read elements that lay a stride apart, from few banks of shared memory. Here, the upper
/// half is added to the lower half, so that the threads of a warp use neighbouring words, each from
/// a bank of its own:
///
///     stride 4:  p0 += p4   p1 += p5   p2 += p6   p3 += p7
///     stride 2:  p0 += p2   p1 += p3
///     stride 1:  p0 += p1
///
/// The pairs are others than before, and so is the rounding; the number of additions on the way of
/// an element is the same.
///
/// What is slow now: in the first step already, half of the threads have nothing to do, though each
/// has fetched an element. Rung 4 changes what a thread fetches and keeps this tree.
///
/// Run it: `ladder reduce --rung sequential`.
/// Work: as rung 2, without conflicts.
/// Measured on an H200, 2^20 numbers: 8.29 us in float, 8.96 us in double.
/// Measured on an H200, the columns of 10,000 x 256: 16.9 us in float, 16.9 us in double.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

/// See tree.cuh.
struct Sequential {
  //! [sequential]
  template <typename T>
  static __device__ void add_up(T* partial) {
    const unsigned t = threadIdx.x;
    __syncthreads();  // every thread has written its own
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
      if (t < stride) partial[t] += partial[t + stride];
      __syncthreads();  // the next step reads what this one has written
    }
  }
  //! [sequential]
};

}  // namespace stagewise::shared_memory

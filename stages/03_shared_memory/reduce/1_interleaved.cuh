/// @file
/// The tree of rung 1, "interleaved": neighbours first.
///
/// Stage 02 left all additions of a sum to one thread. Here, the threads of a block add in pairs,
/// then pairs of pairs, so that 256 numbers take 8 steps instead of 255:
///
///     stride 1:  p0 += p1    p2 += p3    p4 += p5    p6 += p7
///     stride 2:  p0 += p2                p4 += p6
///     stride 4:  p0 += p4
///
/// What is slow: the threads that add lie 2, 4, 8 ... apart. A warp works as long as one of its
/// threads does, so that all warps take part in the first five steps although half, a quarter, ...
/// of their threads idle; and the remainder of a division by a variable takes dozens of
/// instructions.
///
/// Run it: `ladder reduce --rung interleaved`.
/// Work: 8 steps and 9 barriers for 256 threads, 255 additions, 3 x 255 accesses to shared memory.
/// Measured on an H200, 2^20 numbers: 15.2 us in float, 15.6 us in double.
/// Measured on an H200, the columns of 10,000 x 256: 17.3 us in float, 17.5 us in double.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

/// See tree.cuh.
struct Interleaved {
  //! [interleaved]
  template <typename T>
  static __device__ void add_up(T* partial) {
    const unsigned t = threadIdx.x;
    __syncthreads();  // every thread has written its own
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
      if (t % (2 * stride) == 0) partial[t] += partial[t + stride];
      __syncthreads();  // the next step reads what this one has written
    }
  }
  //! [interleaved]
};

}  // namespace stagewise::shared_memory

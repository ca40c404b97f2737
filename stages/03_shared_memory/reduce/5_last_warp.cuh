/// @file
/// The tree of rung 5, "last-warp": the last steps without barriers of the block.
///
/// From stride 32 on, only the first warp adds, but in rung 3's tree all warps wait at six more
/// barriers. Here, the others are done by then, and the first warp waits for nobody but itself.
///
/// It still has to wait for itself. Up to the Pascal architecture (2016) the 32 threads of a warp
/// went in lockstep, and programs left this out. Since Volta each thread goes its own way: without
/// __syncwarp(), a thread may read an element that its neighbour has not yet written, or the
/// compiler may keep it in a register.
///
/// What is slow now: each of these steps writes to shared memory for a neighbour in the same warp
/// to read, and waits for it.
///
/// Run it: `ladder reduce --rung last-warp`.
/// Work: as rung 3, with 3 barriers of the block instead of 9 for 256 threads.
/// Measured on an H200, 2^20 numbers: 5.31 us in float, 5.50 us in double.
/// Measured on an H200, the columns of 10,000 x 256: 16.3 us in float, 16.2 us in double.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

/// See tree.cuh.
struct LastWarp {
  //! [last_warp]
  template <typename T>
  static __device__ void add_up(T* partial) {
    const unsigned t = threadIdx.x;
    __syncthreads();  // every thread has written its own
    for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2) {
      if (t < stride) partial[t] += partial[t + stride];
      __syncthreads();
    }
    if (t >= 32) return;
    if (blockDim.x > 32) partial[t] += partial[t + 32];
    __syncwarp();
#pragma unroll
    for (unsigned stride = 16; stride > 0; stride /= 2) {
      if (t < stride) partial[t] += partial[t + stride];
      __syncwarp();  // the next step reads what this one has written
    }
  }
  //! [last_warp]
};

}  // namespace stagewise::shared_memory

/// @file
/// Rung 4, "first-add": each thread fetches two elements and adds them on the way.
///
/// In rung 3, half of the threads fetch an element, store it in shared memory and are done. Here,
/// half as many blocks do the first addition in registers, before the tree. No thread is idle in
/// it, each has two loads in flight instead of one, and there are half as many trees.
///
/// The second element lies a whole block behind the first, not beside it, so that both loads of a
/// warp are coalesced.
///
/// What is slow now: for every 512 elements, a block walks through a tree with 9 barriers; rung 5
/// looks at these.
///
/// Run it: `ladder reduce --rung first-add`.
/// Work: as in passes.cuh, with n/512 partial sums.
/// Measured on an H200, 2^20 numbers: 6.38 us in float, 6.67 us in double.
#pragma once

#include "cuda/launch.cuh"

namespace stagewise::shared_memory {

/// In place of LoadOne; see passes.cuh.
struct FirstAdd {
  static constexpr Index elements_per_block = 2 * cuda::threads_per_block;

  //! [first_add]
  template <typename T>
  static __device__ T load(Index n, const T* x) {
    const Index i = blockIdx.x * elements_per_block + threadIdx.x;
    const Index j = i + blockDim.x;
    const T first = i < n ? x[i] : T{0};
    const T second = j < n ? x[j] : T{0};
    return first + second;
  }
  //! [first_add]
};

}  // namespace stagewise::shared_memory

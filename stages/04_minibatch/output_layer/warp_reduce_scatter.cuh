/// @file
/// 32 sums over the lanes of a warp at once.
#pragma once

#include "03_shared_memory/warp.cuh"

namespace stagewise::minibatch {

//! [warp_reduce_scatter]
/// Adds up 32 numbers over the lanes of a warp; lane i gets total i (a reduce-scatter).
///
/// A tree of shuffles takes 5 for each number, and then every lane has every total. Here a lane
/// sends away the half of its numbers whose totals are not its own, and gets as many for the other
/// half: in the first step 16 shuffles, in the next 8, and so on, 31 in all. All lanes of the warp
/// call it.
template <typename T>
__device__ T warp_reduce_scatter(T (&values)[32]) {
#pragma unroll
  for (int step = 0; step < 5; ++step) {
    const int half = 16 >> step;
    const bool is_upper = (threadIdx.x & static_cast<unsigned>(half)) != 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) {  // a constant, so that all loops are unrolled
      if (i >= half) continue;
      const T own = is_upper ? values[half + i] : values[i];
      const T other = is_upper ? values[i] : values[half + i];
      values[i] = own + __shfl_xor_sync(shared_memory::all_lanes, other, half);
    }
  }
  return values[0];
}
//! [warp_reduce_scatter]

}  // namespace stagewise::minibatch

/// @file
/// What the 32 lanes of a warp find out together, by shuffles alone.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

constexpr unsigned all_lanes = 0xffffffff;

//! [warp_reductions]
// In step d, each lane takes the value of the lane whose number differs in bit d. Both of a pair
// compute the same, so that in the end all lanes have the same bits. All lanes of the warp take
// part.

/// The largest of a warp's values, or of those of every `lanes` neighbours. A NaN is larger than
/// nothing.
template <int lanes = 32, typename T>
__device__ T largest_of_warp(T value) {
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const T other = __shfl_xor_sync(all_lanes, value, distance);
    if (other > value) value = other;
  }
  return value;
}

/// The sum of a warp's values, or of those of every `lanes` neighbours; with a `step`, only of
/// lanes whose numbers are equal modulo `step`.
template <int lanes = 32, int step = 1, typename T>
__device__ T sum_of_warp(T value) {
#pragma unroll
  for (int distance = lanes / 2; distance >= step; distance /= 2) {
    value += __shfl_xor_sync(all_lanes, value, distance);
  }
  return value;
}
//! [warp_reductions]

}  // namespace stagewise::shared_memory

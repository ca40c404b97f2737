/// @file
/// What the 32 lanes of a warp find out together, by shuffles alone.
#pragma once

#include <cuda_runtime.h>

namespace stagewise::shared_memory {

constexpr unsigned all_lanes = 0xffffffff;

/// The lanes of this one's group, where every `lanes` neighbours form one.
template <int lanes>
__device__ unsigned lanes_of_group() {
  static_assert(lanes > 0 && 32 % lanes == 0);
  if constexpr (lanes == 32) return all_lanes;
  return ((1U << lanes % 32) - 1) << threadIdx.x % 32 / lanes * lanes;
}

//! [warp_reductions]
// In step d, each lane takes the value of the lane whose number differs in bit d. Both of a pair
// compute the same, so that in the end all lanes have the same bits.

/// The largest of a warp's values, or of those of each group of lanes. A NaN is larger than
/// nothing.
template <int lanes = 32, typename T>
__device__ T largest_of_warp(T value) {
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const T other = __shfl_xor_sync(lanes_of_group<lanes>(), value, distance);
    if (other > value) value = other;
  }
  return value;
}

/// The sum of a warp's values, or of those of each group of lanes.
template <int lanes = 32, typename T>
__device__ T sum_of_warp(T value) {
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(lanes_of_group<lanes>(), value, distance);
  }
  return value;
}
//! [warp_reductions]

}  // namespace stagewise::shared_memory

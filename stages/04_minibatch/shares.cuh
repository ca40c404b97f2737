/// @file
/// The gradients of a last layer from the shares of many blocks, and the totals of the batch.
///
/// The layer is small, so its gradients are, too, but every block of output_layer() has a share of
/// all of them. One block would take long to add them up, and a kernel of its own would be a launch
/// more. But some kernel comes next: its blocks do it, each for a few places, while their own first
/// copies are under way.
#pragma once

#include "04_minibatch/block_partial.cuh"
#include "04_minibatch/output_layer.hpp"

namespace stagewise::minibatch {

/// Uses a gradient: stores it, or updates the parameter.
template <typename T>
__device__ void deliver(const GradientTarget<T>& target, Index place, T gradient) {
  if (target.parameter == nullptr) {
    target.gradient[place] = gradient;
  } else {
    T& value = target.parameter[place];
    value -= target.learning_rate * (gradient + target.l2 * value);
  }
}

//! [add_shares]
/// Block number `block` of `blocks` adds up its part of the shares: 32 neighbouring places at a
/// time, one for each lane. Each warp takes some of the shares. The order is fixed: a warp's shares
/// by number, then the warps. All threads of the block call it.
/// @tparam threads of a block.
template <int threads, typename T>
__device__ void add_up_shares(const SharesProblem<T>& p, int block, int blocks) {
  if (p.shares == nullptr) return;
  constexpr int warps = threads / 32;
  constexpr int in_flight = 128 / warps;  // loads: usually, all of a warp's shares
  __shared__ T sums[warps][32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const Index length = shares_length(p.in, p.out);
  const Index weights = p.in * p.out;
  const Index places = p.bias.gradient != nullptr ? length : weights;
  for (Index first = Index{32} * block; first < places; first += Index{32} * blocks) {
    const Index place = first + lane;
    T sum = 0;
    for (Index next = warp; next < p.count; next += in_flight * warps) {
      T values[in_flight];
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        const Index share = next + i * warps;
        const bool is_there = share < p.count && place < places;
        values[i] = is_there ? p.shares[share * length + place] : T{0};
      }
#pragma unroll
      for (int i = 0; i < in_flight; ++i) sum += values[i];
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && place < places) {
      T gradient = 0;
#pragma unroll
      for (int other = 0; other < warps; ++other) gradient += sums[other][lane];
      if (place < weights) {
        deliver(p.weight, place % p.in * p.out + place / p.in, gradient);
      } else {
        deliver(p.bias, place - weights, gradient);
      }
    }
    __syncthreads();
  }
  if (block == blocks - 1) add_partials<threads>(p.totals);
}
//! [add_shares]

}  // namespace stagewise::minibatch

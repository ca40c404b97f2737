/// @file
/// The gradients of a last layer from the shares of many blocks, and the totals of the batch.
///
/// The layer is small, so its gradients are, too, but every block of output_layer() has a share of
/// all of them. One block would take long to add them up, and a kernel of its own would be a launch
/// more. But some kernel comes next: its blocks do it, each for a few elements, while their own
/// first copies are under way.
#pragma once

#include "03_shared_memory/vector.cuh"
#include "04_minibatch/output_layer/block_partial.cuh"
#include "04_minibatch/output_layer/output_layer.hpp"

namespace stagewise::minibatch {

//! [add_shares]
/// Block number `block` of `blocks` adds up its part of the shares. A warp adds up 32 bytes of
/// every share, the smallest piece that memory delivers; two lanes read a share. No warp waits for
/// another: a barrier would hold up those with nothing to add. The order is fixed: each lane's
/// shares by number, then the lanes by a tree. All threads of the block call it.
/// @tparam threads of a block.
template <int threads, typename T>
__device__ void add_up_shares(const SharesProblem<T>& p, int block, int blocks) {
  using shared_memory::Vector;
  if (p.shares == nullptr) return;
  constexpr int warps = threads / 32;
  constexpr int length = Vector<T>::length;
  constexpr int in_flight = 9;  // loads: usually, all of a lane's shares
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int half = lane % 2;
  const auto in = static_cast<int>(p.in);
  const auto out = static_cast<int>(p.out);
  const auto count = static_cast<int>(p.count);
  const int weights = in * out;
  const int elements = weights + (p.bias.gradient != nullptr ? out : 0);
  const Index distance = shares_length(p.in, p.out);
  const int all = warps * blocks * 2 * length;  // elements that all warps take at the same time
  for (int first = (warp * blocks + block) * 2 * length; first < elements; first += all) {
    const int element = first + half * length + lane / 2;  // which this lane finishes, if any
    const bool finishes = lane / 2 < length && element < elements;
    const bool is_weight = element < weights;
    const int at = is_weight ? element % in * out + element / in : element - weights;
    T* const parameter = is_weight ? p.weight.parameter : p.bias.parameter;
    T value = 0;
    if (finishes && parameter != nullptr) value = parameter[at];
    const T* const shares = p.shares + first + half * length;
    T sums[length] = {};
    for (int next = lane / 2; next < count; next += 16 * in_flight) {
      Vector<T> loaded[in_flight] = {};
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
        const int share = next + 16 * i;
        if (share < count) {
          loaded[i] = *reinterpret_cast<const Vector<T>*>(shares + share * distance);
        }
      }
#pragma unroll
      for (int i = 0; i < in_flight; ++i) {
#pragma unroll
        for (int j = 0; j < length; ++j) sums[j] += loaded[i].values[j];
      }
    }
    T gradient = 0;
#pragma unroll
    for (int j = 0; j < length; ++j) {
      const T sum = shared_memory::sum_of_warp<32, 2>(sums[j]);
      if (lane / 2 == j) gradient = sum;
    }
    if (finishes && parameter != nullptr) {
      const T learning_rate = is_weight ? p.weight.learning_rate : p.bias.learning_rate;
      const T l2 = is_weight ? p.weight.l2 : p.bias.l2;
      parameter[at] = value - learning_rate * (gradient + l2 * value);
    } else if (finishes) {
      (is_weight ? p.weight.gradient : p.bias.gradient)[at] = gradient;
    }
  }
  if (block == blocks - 1 && warp == warps - 1) add_partials(p.totals);
}
//! [add_shares]

}  // namespace stagewise::minibatch

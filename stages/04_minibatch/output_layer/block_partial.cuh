/// @file
/// Loss and right answers of a batch: left by the kernel that computes them, added up by another.
///
/// Nothing but the epoch's end waits for the totals. So the kernel that computes the losses, on
/// which the whole backward pass waits, leaves a partial for each block and is done; one warp adds
/// these up later, beside everything else. The order is fixed: lanes by a tree, warps by
/// number; then 32 lanes take the partials in turn, and a tree adds these up.
#pragma once

#include "03_shared_memory/warp.cuh"
#include "04_minibatch/output_layer/output_layer.hpp"

namespace stagewise::minibatch {

/// Adds a partial to a sum.
__device__ inline void add(const BlockPartial& partial, BlockPartial& sum) {
  sum.loss += partial.loss;
  sum.correct += partial.correct;
}

/// The sum of the partials of a warp's lanes. All of them call it.
__device__ inline BlockPartial sum_of_warp(const BlockPartial& partial) {
  return {shared_memory::sum_of_warp(partial.loss), shared_memory::sum_of_warp(partial.correct)};
}

//! [partial]
/// Leaves the partial of a block, given those of its threads. All of them call it.
/// @tparam threads of a block.
template <int threads>
__device__ void store_partial(const BlockPartial& partial, BlockPartial* to) {
  constexpr int warps = threads / 32;
  __shared__ BlockPartial of_warps[warps];
  const BlockPartial of_warp = sum_of_warp(partial);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = of_warp;
  __syncthreads();
  if (threadIdx.x != 0) return;
  BlockPartial of_block;
  for (int warp = 0; warp < warps; ++warp) add(of_warps[warp], of_block);
  *to = of_block;
}
//! [partial]

//! [add_partials]
/// Adds the partials of a batch to the totals. All lanes of a warp call it.
__device__ inline void add_partials(const TotalsProblem& p) {
  BlockPartial batch;
#pragma unroll 4  // so many loads are in flight together
  for (Index i = threadIdx.x % 32; i < p.count; i += 32) add(p.partials[i], batch);
  batch = sum_of_warp(batch);
  if (threadIdx.x % 32 != 0) return;
  if (!isfinite(batch.loss) && p.totals->first_bad_step < 0) {
    p.totals->first_bad_step = (p.steps_before != nullptr ? *p.steps_before : 0) + p.step;
  }
  p.totals->loss += batch.loss;
  p.totals->correct += batch.correct;
}
//! [add_partials]

/// The label of a row of the batch.
template <typename T>
__device__ std::int32_t label_of(const LossProblem<T>& p, Index row) {
  return p.labels[p.order != nullptr ? p.order[row] : row];
}

}  // namespace stagewise::minibatch

/// @file
/// Loss and right answers of a batch: left by the kernel that computes them, added up by another.
///
/// Nothing but the epoch's end waits for the totals. So the kernel that computes the losses, on
/// which the whole backward pass waits, leaves a partial for each block and is done; one block adds
/// these up later, beside everything else. The order is fixed: a block's threads by a tree, the
/// blocks by number.
#pragma once

#include "03_shared_memory/reduce/6_shuffles.cuh"
#include "04_minibatch/loss.hpp"

namespace stagewise::minibatch {

//! [partial]
/// Leaves the partial of a block, given those of its threads. All of them call it.
/// @tparam threads of a block.
template <int threads>
__device__ void store_partial(const BlockPartial& partial, BlockPartial* to) {
  __shared__ double losses[threads];
  __shared__ std::int64_t correct[threads];
  losses[threadIdx.x] = partial.loss;
  correct[threadIdx.x] = partial.correct;
  shared_memory::Shuffles::add_up(losses);
  shared_memory::Shuffles::add_up(correct);
  if (threadIdx.x == 0) *to = {losses[0], correct[0]};
}
//! [partial]

//! [add_partials]
/// Adds the partials of a batch to the totals. All threads of a block call it.
/// @tparam threads of a block.
template <int threads>
__device__ void add_partials(const TotalsProblem& p) {
  __shared__ BlockPartial batch;
  BlockPartial partial;
  for (Index i = threadIdx.x; i < p.count; i += threads) {
    partial.loss += p.partials[i].loss;
    partial.correct += p.partials[i].correct;
  }
  store_partial<threads>(partial, &batch);
  if (threadIdx.x != 0) return;
  if (!isfinite(batch.loss) && p.totals->first_bad_step < 0) {
    p.totals->first_bad_step = *p.steps_before + p.step;
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

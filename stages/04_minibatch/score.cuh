/// @file
/// Loss and right answers of a batch, added up by the kernel that computes them.
#pragma once

#include "03_shared_memory/reduce/6_shuffles.cuh"
#include "03_shared_memory/reduce/last_block.cuh"
#include "03_shared_memory/workspace.hpp"
#include "04_minibatch/loss.hpp"

namespace stagewise::minibatch {

/// Loss and number of right answers of some rows.
struct Score {
  double loss = 0;
  std::int64_t correct = 0;
};

/// Where blocks leave their scores for the last one.
struct BlockScores {
  double* losses;
  std::int64_t* correct;
  unsigned* counter;

  /// In a workspace, behind each other.
  BlockScores(shared_memory::Workspace& workspace, Index blocks)
      : losses(workspace.partials<double>()),
        correct(workspace.partials<std::int64_t>() + blocks),
        counter(workspace.counters()) {}
};

//! [add_to_totals]
/// Adds a batch to the totals: a block's threads in the order of a tree, the blocks by number. All
/// threads of all blocks call it, each with the score of its own rows.
/// @tparam threads of a block.
template <int threads, typename T>
__device__ void add_to_totals(Score score, const BlockScores& blocks, const LossProblem<T>& p) {
  __shared__ double losses[threads];
  __shared__ std::int64_t correct[threads];
  const auto add_up = [&] {
    losses[threadIdx.x] = score.loss;
    correct[threadIdx.x] = score.correct;
    shared_memory::Shuffles::add_up(losses);
    shared_memory::Shuffles::add_up(correct);
  };
  add_up();
  if (threadIdx.x == 0) {
    blocks.losses[blockIdx.x] = losses[0];
    blocks.correct[blockIdx.x] = correct[0];
  }
  if (!shared_memory::is_last_block(blocks.counter, gridDim.x)) return;

  score = {};
  for (unsigned block = threadIdx.x; block < gridDim.x; block += threads) {
    score.loss += blocks.losses[block];
    score.correct += blocks.correct[block];
  }
  add_up();
  if (threadIdx.x != 0) return;
  if (!isfinite(losses[0]) && p.totals->first_bad_step < 0) {
    p.totals->first_bad_step = *p.steps_before + p.step;
  }
  p.totals->loss += losses[0];
  p.totals->correct += correct[0];
}
//! [add_to_totals]

/// From a gradient to the one before the activation that made y.
template <typename T>
__device__ T through_activation(Activation activation, T y, T gradient) {
  if (activation == Activation::relu) return y > 0 ? gradient : T{0};
  if (activation == Activation::sigmoid) return gradient * y * (T{1} - y);
  return gradient;
}

/// The label of a row of the batch.
template <typename T>
__device__ std::int32_t label_of(const LossProblem<T>& p, Index row) {
  return p.labels[p.selection.order != nullptr ? p.selection.order[row] : row];
}

}  // namespace stagewise::minibatch

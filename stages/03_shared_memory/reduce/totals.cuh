/// @file
/// The totals of an epoch: one block adds up the losses of a batch and counts what was right.
///
/// Stage 02 gave the batch to one thread, in the order of the rows. A block is enough for any
/// batch; more would only have to find each other. Each thread takes every 256th row, then the
/// rung's tree adds up what the threads have: another order than stage 02's, and the same one in
/// every run.
///
/// Work: for each row a loss and two classes read; one addition in double precision.
#pragma once

#include "03_shared_memory/reduce.hpp"
#include "cuda/check.hpp"

namespace stagewise::shared_memory {

//! [totals]
template <typename Tree, int threads, typename T>
__global__ void totals_kernel(AccumulateProblem<T> p) {
  __shared__ double losses[threads];
  __shared__ std::int64_t hits[threads];
  double loss = 0;
  std::int64_t correct = 0;
  for (Index row = threadIdx.x; row < p.rows; row += threads) {
    loss += static_cast<double>(p.row_losses[row]);
    correct += p.predictions[row] == p.labels[row] ? 1 : 0;
  }
  losses[threadIdx.x] = loss;
  hits[threadIdx.x] = correct;
  Tree::add_up(losses);
  Tree::add_up(hits);
  if (threadIdx.x != 0) return;
  if (!isfinite(losses[0]) && p.totals->first_bad_step < 0) p.totals->first_bad_step = p.step;
  p.totals->loss += losses[0];
  p.totals->correct += hits[0];
}
//! [totals]

/// @tparam threads of the block: half as many from rung 4 on, so that each adds more by itself.
template <typename Tree, int threads, typename T>
void add_to_totals(cudaStream_t stream, const AccumulateProblem<T>& problem) {
  totals_kernel<Tree, threads><<<1, threads, 0, stream>>>(problem);
  CUDA_CHECK_LAUNCH("totals");
}

}  // namespace stagewise::shared_memory

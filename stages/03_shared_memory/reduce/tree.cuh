/// @file
/// What every in-block reduction of the ladder is to its callers, and the kernels of rungs 1 to 6,
/// which use them.
///
/// A tree is a type with one function,
///
///     template <typename T> static __device__ void add_up(T* partial);
///
/// All threads of a one-dimensional block call it, after each has written partial[threadIdx.x] in
/// shared memory. blockDim.x is a power of two from 32 to 1,024. Afterwards thread 0 finds the sum
/// in partial[0]; the others must not look before a barrier. Other kernels use the trees, too: the
/// dot products of the GEMM ladder, for one.
///
/// Here, each thread first adds up what it meets, then the tree what the threads have. Blocks have
/// 256 threads up to rung 3, and half as many from rung 4 on, so that each adds more by itself.
#pragma once

#include "03_shared_memory/kernels.hpp"
#include "cuda/check.hpp"

namespace stagewise::shared_memory {

//! [column_sums]
/// The sums of columns: a block for each, as in report 004.
///
/// Stage 02 gave a column to one thread. Here its block strides down the rows. The report's blocks
/// took one row a thread, and so at most 1,024; these take any number.
///
/// What is slow: neighbouring threads read from neighbouring rows, that is `cols` elements apart. A
/// warp fetches 32 pieces of memory of 32 bytes each for 32 elements. Rung 7 turns the block
/// around.
///
/// Work: rows x cols elements read, 32 bytes fetched for each where cols is 8 or more in float.
template <typename Tree, int threads, typename T>
__global__ void column_sums_kernel(Index rows, Index cols, const T* __restrict__ x,
                                   T* __restrict__ out) {
  __shared__ T partial[threads];
  const Index column = blockIdx.x;
  T sum = 0;
  for (Index row = threadIdx.x; row < rows; row += threads) sum += x[row * cols + column];
  partial[threadIdx.x] = sum;
  Tree::add_up(partial);
  if (threadIdx.x == 0) out[column] = partial[0];
}
//! [column_sums]

/// Enqueues the sums.
template <typename Tree, int threads, typename T>
void column_sums_by_tree(cudaStream_t stream, const ColumnSumsProblem<T>& problem,
                         Workspace& /*workspace*/) {
  if (problem.cols == 0) return;
  column_sums_kernel<Tree, threads><<<static_cast<unsigned>(problem.cols), threads, 0, stream>>>(
      problem.rows, problem.cols, problem.x, problem.out);
  CUDA_CHECK_LAUNCH("column_sums");
}

//! [totals]
/// The totals of an epoch: one block adds up the losses of a batch and counts what was right.
///
/// Stage 02 gave the batch to one thread, in the order of the rows. A block is enough for any
/// batch; more would only have to find each other. The order of the sum is another than stage
/// 02's, and the same one in every run.
///
/// Work: for each row a loss and two classes read; one addition in double precision.
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

/// Enqueues them.
template <typename Tree, int threads, typename T>
void add_to_totals(cudaStream_t stream, const AccumulateProblem<T>& problem) {
  totals_kernel<Tree, threads><<<1, threads, 0, stream>>>(problem);
  CUDA_CHECK_LAUNCH("totals");
}

}  // namespace stagewise::shared_memory

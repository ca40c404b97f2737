/// @file
/// The sums of columns on rungs 1 to 6: a block for each column, as in report 004.
///
/// Stage 02 gave a column to one thread. Here its block strides down the rows, each thread adds
/// what it meets, and a tree adds up what the threads have. The report's blocks took one row a
/// thread, and so at most 1,024; these take any number.
///
/// What is slow: neighbouring threads read from neighbouring rows, that is `cols` elements apart. A
/// warp fetches 32 pieces of memory of 32 bytes each for 32 elements. Rung 7 turns the block
/// around.
///
/// Work: rows x cols elements read, 32 bytes fetched for each where cols is 8 or more in float.
#pragma once

#include "03_shared_memory/reduce.hpp"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {

//! [column_sums]
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

/// @tparam threads of a block: half as many from rung 4 on, so that each adds more by itself.
template <typename Tree, int threads, typename T>
void column_sums_by_tree(cudaStream_t stream, const ColumnSumsProblem<T>& problem,
                         Workspace& /*workspace*/) {
  if (problem.cols == 0) return;
  column_sums_kernel<Tree, threads><<<static_cast<unsigned>(problem.cols), threads, 0, stream>>>(
      problem.rows, problem.cols, problem.x, problem.out);
  CUDA_CHECK_LAUNCH("column_sums");
}

}  // namespace stagewise::shared_memory

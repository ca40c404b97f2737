/// @file
/// Rung 8, "one-pass": the last block to finish does the rest.
///
/// Rung 7 needed a second launch to be sure that all partial sums had been written. Here, the block
/// that finishes last adds them up, in the order of the blocks and not in that of their arrival:
/// the same bits in every run, which atomic additions to the result would not give.
///
/// Run it: `ladder reduce --rung one-pass`.
/// Work: as rung 7, with one launch; a ticket for each block.
/// Measured on an H200, 2^20 numbers: 3.51 us in float, 4.01 us in double.
#pragma once

#include "03_shared_memory/reduce/last_block.cuh"
#include "ladders/reduce/7_vector_loads.cuh"

namespace stagewise::shared_memory {

//! [one_pass_sum]
template <typename T>
__global__ void one_pass_sum_kernel(Index n, const T* __restrict__ x, T* sums, unsigned* counter, T* __restrict__ out) {
  __shared__ T partial[cuda::threads_per_block];
  partial[threadIdx.x] = strided_sum(n, x);
  Shuffles::add_up(partial);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
  if (!is_last_block(counter, gridDim.x)) return;

  T sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += sums[i];
  partial[threadIdx.x] = sum;
  Shuffles::add_up(partial);
  if (threadIdx.x == 0) *out = partial[0];
}
//! [one_pass_sum]

template <typename T>
void sum_in_one_pass(cudaStream_t stream, const SumProblem<T>& p, Workspace& workspace) {
  one_pass_sum_kernel<<<strided_blocks<T>(p.n), cuda::threads_per_block, 0, stream>>>(p.n, p.x, workspace.partials<T>(),
                                                                                      workspace.counters(), p.out);
  CUDA_CHECK_LAUNCH("one_pass_sum");
}

}  // namespace stagewise::shared_memory

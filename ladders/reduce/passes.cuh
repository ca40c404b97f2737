/// @file
/// What rungs 1 to 6 have in common: a sum in several passes.
///
/// Blocks cannot wait for each other inside a kernel. So a first pass leaves a partial sum for each
/// block in memory, a second one adds these up, and so on until a pass of one block writes the
/// result (report 004, which allowed for two passes). The rungs differ in how a thread fetches its
/// elements, `Load`, and in how a block adds up what its threads have, `Tree`; see tree.cuh.
///
/// Work: n elements read once, n/256 partial sums written and read, n/256^2 ...; n - 1 additions.
#pragma once

#include <algorithm>
#include <string>

#include "cuda/launch.cuh"
#include "ladders/reduce/reduce.hpp"

namespace stagewise::shared_memory {

/// Each thread fetches one element.
struct LoadOne {
  static constexpr Index elements_per_block = cuda::threads_per_block;

  /// This thread's element, or 0 beyond the last.
  template <typename T>
  static __device__ T load(Index n, const T* x) {
    const Index i = cuda::index_x();
    return i < n ? x[i] : T{0};
  }
};

//! [block_sums]
/// sums[b] = the sum of the elements of block b.
template <typename Load, typename Tree, typename T>
__global__ void block_sums_kernel(Index n, const T* __restrict__ x, T* sums) {
  __shared__ T partial[cuda::threads_per_block];
  partial[threadIdx.x] = Load::load(n, x);
  Tree::add_up(partial);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
//! [block_sums]

//! [sum_by_passes]
template <typename Load, typename Tree, typename T>
void sum_by_passes(cudaStream_t stream, const SumProblem<T>& problem, Workspace& workspace) {
  // The sums of the first pass, of the third, ...; behind them those of the second, the fourth, ...
  T* const odd = workspace.partials<T>();
  T* const even = odd + cuda::pieces(problem.n, Load::elements_per_block);
  T* to = odd;
  const T* from = problem.x;
  for (Index left = problem.n;;) {
    const Index blocks = std::max<Index>(cuda::pieces(left, Load::elements_per_block), 1);
    if (blocks == 1) to = problem.out;
    block_sums_kernel<Load, Tree>
        <<<static_cast<unsigned>(blocks), cuda::threads_per_block, 0, stream>>>(left, from, to);
    CUDA_CHECK_LAUNCH("block_sums");
    if (blocks == 1) return;
    left = blocks;
    from = to;
    to = from == odd ? even : odd;
  }
}
//! [sum_by_passes]

/// Whether the workspace has room for the partial sums of the first two passes.
template <typename Load, typename T>
Support supports_passes(const SumProblem<T>& problem) {
  const Index first = cuda::pieces(problem.n, Load::elements_per_block);
  const Index second = cuda::pieces(first, Load::elements_per_block);
  if (first + second <= Workspace::capacity<T>()) return {};
  return {"the workspace has no room for " + std::to_string(first + second) + " partial sums"};
}

}  // namespace stagewise::shared_memory

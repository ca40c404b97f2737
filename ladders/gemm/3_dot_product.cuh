/// @file
/// GEMM, rung 3: one block per element of C (report 004).
///
/// Stage 02 uses one thread per dot product. Here, a whole block computes it: each thread
/// multiplies its part of the row of A by its part of the column of B, and the block adds up the
/// products in shared memory, with one of four trees of the reduction ladder. Neighbouring threads
/// read neighbours in the row of A, but elements of the column of B are n apart, and no block can
/// use what another one has loaded.
///
/// So it pays only where k is long and C is small; for the gradient of a weight, it is far slower
/// than stage 02. But it shows how much the tree matters when most of the time is spent in it.
///
/// Run it: `ladder gemm --rung dot-sequential` (or dot-interleaved,
/// dot-non-divergent, dot-last-warp).
/// Work: 2 m n k operations, 2 m n k loads, and the barriers of one tree per element of C.
/// Measured on an H200, 800 x 1000 x 784: `dot-interleaved` 4.479 ms in float, 4.307 ms in double;
/// `dot-non-divergent` 3.958 ms in float, 3.888 ms in double; `dot-sequential` 3.861 ms in float,
/// 3.878 ms in double; `dot-last-warp` 3.747 ms in float, 3.86 ms in double.
#pragma once

#include <algorithm>

#include "cuda/launch.cuh"
#include "cuda/workspace.hpp"
#include "network/operand.hpp"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// Of a block that computes a dot product.
constexpr int max_dot_threads = 256;

//! [dot_product]
template <typename Tree, typename T>
__global__ void gemm_dot_product_kernel(Index elements, Index n, Index k, T alpha, Operand<T> a, Operand<T> b, T beta,
                                        T* __restrict__ c) {
  __shared__ T partial[max_dot_threads];
  for (Index element = blockIdx.x; element < elements; element += gridDim.x) {
    const Index row = element / n;
    const Index column = element % n;
    T sum = 0;
    for (Index i = threadIdx.x; i < k; i += blockDim.x) sum += a(row, i) * b(i, column);
    partial[threadIdx.x] = sum;
    Tree::add_up(partial);
    if (threadIdx.x == 0) {
      c[element] = beta == 0 ? alpha * partial[0] : alpha * partial[0] + beta * c[element];
    }
    __syncthreads();  // before the next element overwrites what was just read
  }
}
//! [dot_product]

/// Enqueues C = alpha op(A) op(B) + beta C.
template <typename T, typename Tree>
void gemm_dot_product(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  int threads = 32;  // a power of two, for the trees, and few of them idle for a short k
  while (threads < max_dot_threads && threads < p.k) threads *= 2;
  const Index blocks = std::min(p.m * p.n, Index{1} << 30);
  gemm_dot_product_kernel<Tree><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      p.m * p.n, p.n, p.k, p.alpha, operand_a(p), operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm (dot product)");
}

}  // namespace stagewise::shared_memory

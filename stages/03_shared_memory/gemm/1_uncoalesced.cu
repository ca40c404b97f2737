/// @file
/// GEMM, rung 1: stage 02's kernel with the indices swapped: `row` comes from x.
///
/// This is a step down, to show what coalescing is worth. The 32 threads of a warp differ in x, so
/// here they work on 32 rows of C. They read a column of A, whose elements are k apart, and write a
/// column of C: 32 transactions of 32 bytes where stage 02 needs four, each to use a single
/// element.
///
/// Run it: `ladder gemm --rung uncoalesced`.
/// Work: 2 m n k operations, 2 m n k loads; a warp's load of A moves 1,024 bytes to use 128.
/// Measured on an H200, 800 x 1000 x 784: 1.424 ms in float, 2.637 ms in double.

#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/launch.cuh"
#include "network/operand.hpp"

namespace stagewise::shared_memory {
namespace {

//! [uncoalesced]
template <typename T>
__global__ void gemm_uncoalesced_kernel(Index m, Index n, Index k, T alpha, Operand<T> a,
                                        Operand<T> b, T beta, T* __restrict__ c) {
  const Index row = cuda::index_x();  // neighbouring threads work on neighbouring rows
  if (row >= m) return;
  for (Index column = cuda::index_y(); column < n; column += cuda::rows_in_grid()) {
    T sum = 0;
    for (Index i = 0; i < k; ++i) sum += a(row, i) * b(i, column);
    T* const out = c + row * n + column;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
}
//! [uncoalesced]

}  // namespace

template <typename T>
void gemm_uncoalesced(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  const dim3 block(32, 8);
  gemm_uncoalesced_kernel<<<cuda::grid_for(p.n, p.m, block), block, 0, stream>>>(
      p.m, p.n, p.k, p.alpha, operand_a(p), operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm (uncoalesced)");
}

template void gemm_uncoalesced(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_uncoalesced(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory

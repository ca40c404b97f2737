/// @file
/// Matrix multiplication: one thread per element of C.
///
/// Stage 01's two outer loops, over the rows and columns of C, become the grid: `row` comes from y
/// and `column` from x, and each thread runs the innermost loop, a dot product.
///
/// x must be the column. Threads of a warp differ in x first: with blocks of 16 x 16, a warp is two
/// rows of 16 threads. It reads 16 neighbours in a row of B, which is coalesced, and two elements
/// of A, a broadcast each. With x as the row, it would read from 16 rows of A and write to 16 of C.
///
/// Still, n threads load every element of A, and m threads every element of B: 2 m n k loads for
/// 2 m n k operations, mostly from the caches. Stage 03 changes that.
/// Measured on an H200, 800 x 1000 x 784: 211.6 us in float, 324.9 us in double.

#include "02_naive_cuda/kernels.hpp"
#include "cuda/launch.cuh"
#include "network/operand.hpp"

namespace stagewise::naive_cuda {
namespace {

//! [gemm]
template <typename T>
__global__ void gemm_kernel(Index m, Index n, Index k, T alpha, Operand<T> a, Operand<T> b, T beta,
                            T* c) {
  //! [gemm_body]
  const Index column = cuda::index_x();
  if (column >= n) return;
  for (Index row = cuda::index_y(); row < m; row += cuda::rows_in_grid()) {
    const T* left = a.data + row * a.row_stride;
    const T* right = b.data + column * b.column_stride;
    T sum = 0;
    for (Index i = 0; i < k; ++i) {
      sum += *left * *right;
      left += a.column_stride;
      right += b.row_stride;
    }
    T* const out = c + row * n + column;
    *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
  }
  //! [gemm_body]
}
//! [gemm]

}  // namespace

//! [gemm_launch]
template <typename T>
void gemm(cudaStream_t stream, const GemmProblem<T>& p, int block_size) {
  if (p.m == 0 || p.n == 0) return;
  const dim3 block(static_cast<unsigned>(block_size), static_cast<unsigned>(block_size));
  gemm_kernel<<<cuda::grid_for(p.m, p.n, block), block, 0, stream>>>(
      p.m, p.n, p.k, p.alpha, operand_a(p), operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm");
}
//! [gemm_launch]

template void gemm(cudaStream_t, const GemmProblem<float>&, int);
template void gemm(cudaStream_t, const GemmProblem<double>&, int);

}  // namespace stagewise::naive_cuda

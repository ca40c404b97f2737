/// @file
/// GEMM, rung 3: a block for each element of C (report 004).
///
/// Stage 02 gives a dot product to one thread. Here it gets a whole block: each thread multiplies
/// its share of the row of A by the column of B, and the block adds the products up in shared
/// memory, by one of four trees of the reduction ladder. The threads read a row of A side by side,
/// but a column of B is n elements apart; and nothing that a block has loaded serves another.
///
/// So it pays only where k is long and C is small, and for the gradient of a weight it is far
/// behind stage 02. What it shows is how much the tree matters when everything rests on it.
///
/// Run it: `ladder gemm --rung dot-sequential` (or dot-interleaved,
/// dot-non-divergent, dot-last-warp).
/// Work: 2 m n k operations, 2 m n k loads, and the barriers of a tree for each element of C.

#include <algorithm>

#include "02_naive_cuda/operand.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "03_shared_memory/reduce/1_interleaved.cuh"
#include "03_shared_memory/reduce/2_non_divergent.cuh"
#include "03_shared_memory/reduce/3_sequential.cuh"
#include "03_shared_memory/reduce/5_last_warp.cuh"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {
namespace {

using naive_cuda::Operand;

constexpr int max_threads = 256;

//! [dot_product]
template <typename Tree, typename T>
__global__ void gemm_dot_product_kernel(Index elements, Index n, Index k, T alpha, Operand<T> a,
                                        Operand<T> b, T beta, T* __restrict__ c) {
  __shared__ T partial[max_threads];
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

}  // namespace

template <typename T, typename Tree>
void gemm_dot_product(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  int threads = 32;  // a power of two, as the trees want it, and few of them idle for a short k
  while (threads < max_threads && threads < p.k) threads *= 2;
  const Index blocks = std::min(p.m * p.n, Index{1} << 30);
  gemm_dot_product_kernel<Tree><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      p.m * p.n, p.n, p.k, p.alpha, naive_cuda::operand_a(p), naive_cuda::operand_b(p), p.beta,
      p.c);
  CUDA_CHECK_LAUNCH("gemm (dot product)");
}

template void gemm_dot_product<float, Interleaved>(cudaStream_t, const GemmProblem<float>&,
                                                   Workspace&);
template void gemm_dot_product<double, Interleaved>(cudaStream_t, const GemmProblem<double>&,
                                                    Workspace&);
template void gemm_dot_product<float, NonDivergent>(cudaStream_t, const GemmProblem<float>&,
                                                    Workspace&);
template void gemm_dot_product<double, NonDivergent>(cudaStream_t, const GemmProblem<double>&,
                                                     Workspace&);
template void gemm_dot_product<float, Sequential>(cudaStream_t, const GemmProblem<float>&,
                                                  Workspace&);
template void gemm_dot_product<double, Sequential>(cudaStream_t, const GemmProblem<double>&,
                                                   Workspace&);
template void gemm_dot_product<float, LastWarp>(cudaStream_t, const GemmProblem<float>&,
                                                Workspace&);
template void gemm_dot_product<double, LastWarp>(cudaStream_t, const GemmProblem<double>&,
                                                 Workspace&);

}  // namespace stagewise::shared_memory

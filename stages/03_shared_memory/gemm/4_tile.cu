/// @file
/// GEMM, rung 4: tiles in shared memory (report 000).
///
/// In stage 02, all threads of a block that work on the same row of C load the same row of A, each
/// for itself. Here, the block loads it once. It steps along k, tile by tile: every thread loads
/// one element of A and one of B into shared memory, and then reads a row of one tile and a column
/// of the other from there. Each element is loaded from global memory once for `size`
/// multiplications instead of once for each: there are fewer loads by a factor of `size`.
///
/// Two barriers per step synchronize the block: no thread may read before all have written this
/// tile, and none may write the next tile before all have read this one.
///
/// Run it: `ladder gemm --rung tile-16` (or tile-4, tile-8, tile-32).
/// Work: 2 m n k operations, 2 m n k / size loads from global and 2 m n k from shared memory.
/// Measured on an H200, 800 x 1000 x 784: `tile-4` 758.3 us in float, 862.3 us in double; `tile-8`
/// 240.2 us in float, 379.6 us in double; `tile-16` 157.5 us in float, 284.5 us in double;
/// `tile-32` 173.1 us in float, 350.3 us in double.

#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/launch.cuh"
#include "network/operand.hpp"

namespace stagewise::shared_memory {
namespace {

//! [tile]
template <int size, typename T>
__global__ void gemm_tile_kernel(Index m, Index n, Index k, T alpha, Operand<T> a, Operand<T> b,
                                 T beta, T* __restrict__ c) {
  __shared__ T a_tile[size][size];
  __shared__ T b_tile[size][size];
  const int y = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(threadIdx.x);
  const Index column = cuda::index_x();
  for (Index top = blockIdx.y * Index{size}; top < m; top += gridDim.y * Index{size}) {
    const Index row = top + y;
    T sum = 0;
    for (Index step = 0; step < k; step += size) {
      // Elements beyond an edge are 0 and add nothing. Every thread goes on: it has to load.
      a_tile[y][x] = row < m && step + x < k ? a(row, step + x) : T{0};
      b_tile[y][x] = step + y < k && column < n ? b(step + y, column) : T{0};
      __syncthreads();
      for (int i = 0; i < size; ++i) sum += a_tile[y][i] * b_tile[i][x];
      __syncthreads();
    }
    if (row < m && column < n) {
      T* const out = c + row * n + column;
      *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;
    }
  }
}
//! [tile]

}  // namespace

template <typename T, int size>
void gemm_tile(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  const dim3 block(size, size);
  gemm_tile_kernel<size><<<cuda::grid_for(p.m, p.n, block), block, 0, stream>>>(
      p.m, p.n, p.k, p.alpha, operand_a(p), operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm (tile)");
}

template void gemm_tile<float, 4>(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_tile<float, 8>(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_tile<float, 16>(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_tile<float, 32>(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_tile<double, 4>(cudaStream_t, const GemmProblem<double>&, Workspace&);
template void gemm_tile<double, 8>(cudaStream_t, const GemmProblem<double>&, Workspace&);
template void gemm_tile<double, 16>(cudaStream_t, const GemmProblem<double>&, Workspace&);
template void gemm_tile<double, 32>(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory

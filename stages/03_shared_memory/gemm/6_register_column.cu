/// @file
/// GEMM, rung 6: a thread computes a column of sixteen elements.
///
/// In rung 4, a thread reads two numbers from shared memory for each multiplication, but shared
/// memory delivers at best one number per thread and cycle, so the arithmetic units wait. Here, a
/// thread computes sixteen elements of a column of C and keeps their sums in registers. An element
/// of B, once read, serves all sixteen: 17 numbers for 16 multiplications instead of 32. And those
/// of A are neighbours in shared memory, of which the compiler reads four at once.
///
/// Both tiles are stored as [step][row or column], whichever way their matrix lies in memory, and
/// threads load neighbours in memory (load_tile.cuh; 5_bank_conflicts.cu shows what that takes).
///
/// Run it: `ladder gemm --rung register-column`.
/// Work: 2 m n k operations; with tiles of 128 x 64, m n k (1 / 128 + 1 / 64) loads from global
/// memory and 17/16 m n k numbers from shared memory.
/// Measured on an H200, 800 x 1000 x 784: 120.6 us in float, 198.3 us in double.

#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/check.hpp"
#include "network/operand.hpp"

namespace stagewise::shared_memory {
namespace {

//! [register_column]
template <int BM, int BN, int BK, int TM, typename T>
__global__ void gemm_register_column_kernel(Index m, Index n, Index k, T alpha, Operand<T> a,
                                            Operand<T> b, T beta, T* __restrict__ c) {
  constexpr int threads = BM / TM * BN;
  __shared__ PaddedTile<T, BM, BK> a_tile;
  __shared__ PaddedTile<T, BN, BK> b_tile;
  const int x = static_cast<int>(threadIdx.x) % BN;
  const int y = static_cast<int>(threadIdx.x) / BN * TM;
  const auto [top, left] = corner_of_tile<BM, BN>(n);
  T sums[TM] = {};
  for (Index step = 0; step < k; step += BK) {
    load_tile<threads>(a_tile, a.data, a.row_stride, a.column_stride, top, m, step, k);
    load_tile<threads>(b_tile, b.data, b.column_stride, b.row_stride, left, n, step, k);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      const T factor = b_tile.values[i][x];  // read once, used `TM` times
#pragma unroll
      for (int r = 0; r < TM; ++r) sums[r] += a_tile.values[i][y + r] * factor;
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    if (top + y + r >= m || left + x >= n) continue;
    T* const out = c + (top + y + r) * n + left + x;
    *out = beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * *out;
  }
}
//! [register_column]

}  // namespace

template <typename T>
void gemm_register_column(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  constexpr int BM = 128;  // rows of a block's tile
  constexpr int BN = 64;   // columns of a block's tile
  constexpr int BK = 16;   // steps along k at a time
  constexpr int TM = 16;   // rows of a thread's tile, which is one column wide
  const dim3 grid = grid_of_tiles(p.m, p.n, BM, BN);
  gemm_register_column_kernel<BM, BN, BK, TM><<<grid, BM / TM * BN, 0, stream>>>(
      p.m, p.n, p.k, p.alpha, operand_a(p), operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm (register column)");
}

template void gemm_register_column(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_register_column(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory

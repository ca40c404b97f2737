/// @file
/// GEMM, rung 7: a thread computes a tile of 4 x 4 elements.
///
/// Rung 6 reuses what it has read of B, but not what it has read of A. With a two-dimensional tile,
/// a thread reads four numbers of A and four of B and multiplies each by each: 8 numbers for 16
/// multiplications, an outer product.
///
/// A thread's columns are not neighbours but 16 apart, so that in every step, 16 neighbouring
/// threads read 16 neighbours from shared memory, and finally write neighbours of C.
///
/// Run it: `ladder gemm --rung register-tile`.
/// Work: 2 m n k operations; 2 m n k / 64 loads from global memory and m n k / 2 numbers from
/// shared memory.
/// Measured on an H200, 800 x 1000 x 784: 88.1 us in float, 131.8 us in double.

#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/check.hpp"
#include "network/operand.hpp"

namespace stagewise::shared_memory {
namespace {

//! [register_tile]
template <int BM, int BN, int BK, int TM, int TN, typename T>
__global__ void gemm_register_tile_kernel(Index m, Index n, Index k, T alpha, Operand<T> a,
                                          Operand<T> b, T beta, T* __restrict__ c) {
  constexpr int threads_across = BN / TN;
  constexpr int threads = BM / TM * threads_across;
  __shared__ PaddedTile<T, BM, BK> a_tile;
  __shared__ PaddedTile<T, BN, BK> b_tile;
  const int x = static_cast<int>(threadIdx.x) % threads_across;
  const int y = static_cast<int>(threadIdx.x) / threads_across * TM;
  const auto [top, left] = corner_of_tile<BM, BN>(n);
  T sums[TM][TN] = {};
  for (Index step = 0; step < k; step += BK) {
    load_tile<threads>(a_tile, a.data, a.row_stride, a.column_stride, top, m, step, k);
    load_tile<threads>(b_tile, b.data, b.column_stride, b.row_stride, left, n, step, k);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      T of_a[TM];
      T of_b[TN];
#pragma unroll
      for (int r = 0; r < TM; ++r) of_a[r] = a_tile.values[i][y + r];
#pragma unroll
      for (int s = 0; s < TN; ++s) of_b[s] = b_tile.values[i][x + s * threads_across];
#pragma unroll
      for (int r = 0; r < TM; ++r) {
#pragma unroll
        for (int s = 0; s < TN; ++s) sums[r][s] += of_a[r] * of_b[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN; ++s) {
      const Index column = left + x + s * threads_across;
      if (top + y + r >= m || column >= n) continue;
      T* const out = c + (top + y + r) * n + column;
      *out = beta == 0 ? alpha * sums[r][s] : alpha * sums[r][s] + beta * *out;
    }
  }
}
//! [register_tile]

}  // namespace

template <typename T>
void gemm_register_tile(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  constexpr int BK = 16;  // steps along k at a time
  constexpr int TM = 4;   // rows of a thread's tile
  constexpr int TN = 4;
  constexpr int BM = 16 * TM;  // rows of a block's tile
  constexpr int BN = 16 * TN;
  constexpr int threads = BM / TM * (BN / TN);
  const dim3 grid = grid_of_tiles(p.m, p.n, BM, BN);
  gemm_register_tile_kernel<BM, BN, BK, TM, TN><<<grid, threads, 0, stream>>>(
      p.m, p.n, p.k, p.alpha, operand_a(p), operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm (register tile)");
}

template void gemm_register_tile(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_register_tile(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory

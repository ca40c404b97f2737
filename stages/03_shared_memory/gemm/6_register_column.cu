/// @file
/// GEMM, rung 6: a thread computes a column of eight elements.
///
/// In rung 5, a thread reads two numbers from shared memory for each multiplication, but shared
/// memory delivers at best one number per thread and cycle, so the arithmetic units wait. Here, a
/// thread computes eight elements of a column of C and keeps their sums in registers. An element of
/// B, once read, serves all eight: nine loads for eight multiplications instead of sixteen.
///
/// Run it: `ladder gemm --rung register-column`.
/// Work: 2 m n k operations; with tiles of 64 x 64, 2 m n k / 64 loads from global memory and
/// 9/8 m n k from shared memory.
/// Measured on an H200, 800 x 1000 x 784: 204.7 us in float, 266.2 us in double.

#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"
#include "network/operand.hpp"

namespace stagewise::shared_memory {
namespace {

//! [register_column]
template <int BM, int BN, int BK, int TM, typename T>
__global__ void gemm_register_column_kernel(Index m, Index n, Index k, T alpha, Operand<T> a,
                                            Operand<T> b, T beta, T* __restrict__ c) {
  constexpr int threads = BM / TM * BN;
  __shared__ T a_tile[BK][BM + 1];
  __shared__ T b_tile[BK][BN + 1];
  const int x = static_cast<int>(threadIdx.x) % BN;
  const int y = static_cast<int>(threadIdx.x) / BN * TM;
  const Index column = blockIdx.x * Index{BN} + x;
  for (Index top = blockIdx.y * Index{BM}; top < m; top += gridDim.y * Index{BM}) {
    T sums[TM] = {};
    for (Index step = 0; step < k; step += BK) {
      load_tile<threads, BM>(a_tile, a.data, a.row_stride, a.column_stride, top, m, step, k);
      load_tile<threads, BN>(b_tile, b.data, b.column_stride, b.row_stride, blockIdx.x * Index{BN},
                             n, step, k);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < BK; ++i) {
        const T factor = b_tile[i][x];  // read once, used `TM` times
#pragma unroll
        for (int r = 0; r < TM; ++r) sums[r] += a_tile[i][y + r] * factor;
      }
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      if (top + y + r >= m || column >= n) continue;
      T* const out = c + (top + y + r) * n + column;
      *out = beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * *out;
    }
  }
}
//! [register_column]

}  // namespace

template <typename T>
void gemm_register_column(cudaStream_t stream, const GemmProblem<T>& p, Workspace& /*workspace*/) {
  constexpr int BM = 64;  // rows of a block's tile
  constexpr int BN = 64;  // columns of a block's tile
  constexpr int BK = 8;   // steps along k at a time
  constexpr int TM = 8;   // rows of a thread's tile, which is one column wide
  const dim3 grid = cuda::grid_for(p.m, p.n, dim3(BN, BM));
  gemm_register_column_kernel<BM, BN, BK, TM><<<grid, BM / TM * BN, 0, stream>>>(
      p.m, p.n, p.k, p.alpha, operand_a(p), operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm (register column)");
}

template void gemm_register_column(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_register_column(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory

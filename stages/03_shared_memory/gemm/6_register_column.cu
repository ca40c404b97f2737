/// @file
/// GEMM, rung 6: a thread computes a column of eight elements.
///
/// In rung 5, a thread reads two numbers from shared memory for each multiplication, and shared
/// memory delivers only one number a thread and cycle, at best: the multiplier waits. Here a thread
/// computes eight elements of a column of C, and keeps their sums in registers. The element of B
/// that it has read serves all eight: nine loads for eight multiplications instead of sixteen.
///
/// Run it: `ladder gemm --rung register-column`.
/// Work: 2 m n k operations; with tiles of 64 x 64, 2 m n k / 64 loads of global memory and
/// 9/8 m n k of shared memory.

#include <algorithm>

#include "02_naive_cuda/operand.cuh"
#include "03_shared_memory/gemm/load_tile.cuh"
#include "03_shared_memory/gemm/rungs.hpp"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {
namespace {

using naive_cuda::Operand;

constexpr int rows = 64;     // of a tile of C
constexpr int columns = 64;  // likewise
constexpr int depth = 8;     // steps along k at a time
constexpr int height = 8;    // elements of C a thread, below each other
constexpr int threads = rows / height * columns;

//! [register_column]
template <typename T>
__global__ void gemm_register_column_kernel(Index m, Index n, Index k, T alpha, Operand<T> a,
                                            Operand<T> b, T beta, T* c) {
  __shared__ T a_tile[depth][rows + 1];
  __shared__ T b_tile[depth][columns + 1];
  const int x = static_cast<int>(threadIdx.x) % columns;
  const int y = static_cast<int>(threadIdx.x) / columns * height;
  const Index column = blockIdx.x * Index{columns} + x;
  for (Index top = blockIdx.y * Index{rows}; top < m; top += gridDim.y * Index{rows}) {
    T sums[height] = {};
    for (Index step = 0; step < k; step += depth) {
      load_tile<threads, rows>(a_tile, a.data, a.row_stride, a.column_stride, top, m, step, k);
      load_tile<threads, columns>(b_tile, b.data, b.column_stride, b.row_stride,
                                  blockIdx.x * Index{columns}, n, step, k);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < depth; ++i) {
        const T factor = b_tile[i][x];  // read once, used `height` times
#pragma unroll
        for (int r = 0; r < height; ++r) sums[r] += a_tile[i][y + r] * factor;
      }
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < height; ++r) {
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
  const dim3 grid = cuda::grid_for(p.m, p.n, dim3(columns, rows));
  gemm_register_column_kernel<<<grid, threads, 0, stream>>>(
      p.m, p.n, p.k, p.alpha, naive_cuda::operand_a(p), naive_cuda::operand_b(p), p.beta, p.c);
  CUDA_CHECK_LAUNCH("gemm (register column)");
}

template void gemm_register_column(cudaStream_t, const GemmProblem<float>&, Workspace&);
template void gemm_register_column(cudaStream_t, const GemmProblem<double>&, Workspace&);

}  // namespace stagewise::shared_memory

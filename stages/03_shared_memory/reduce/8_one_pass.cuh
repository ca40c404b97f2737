/// @file
/// Rung 8, "one-pass": several blocks share the rows of a column, and the last one adds up.
///
/// In rung 7, a block takes all rows of its 32 columns: a narrow matrix has few columns, and so
/// keeps few multiprocessors busy. Here, the rows are shared out as well. The block that finishes
/// last adds up what the others have left, in the order of the blocks and not in that of their
/// arrival: the same bits in every run, which atomic additions to the result would not give.
///
/// Run it: `ladder reduce --m 10000 --n 10 --rung one-pass`.
/// Work: as rung 7; a partial sum and a ticket for each block.
/// Measured on an H200, the columns of 10,000 x 256: 5.48 us in float, 6.50 us in double.
#pragma once

#include <algorithm>

#include "03_shared_memory/reduce/7_coalesced_columns.cuh"
#include "03_shared_memory/reduce/last_block.cuh"
#include "cuda/device.hpp"

namespace stagewise::shared_memory {

//! [one_pass_column_sums]
/// Block (x, y) adds up rows y * 32 to y * 32 + 31 of its 32 columns, then those gridDim.y * 32
/// rows below, and so on. The last one of the column of blocks adds up their sums.
template <typename T>
__global__ void one_pass_column_sums_kernel(Index rows, Index cols, const T* __restrict__ x,
                                            T* sums, unsigned* counters, T* __restrict__ out) {
  __shared__ T partial[column_tile][column_tile];
  const Index column = cuda::index_x();
  T sum = 0;
  if (column < cols) {
#pragma unroll 4
    for (Index row = cuda::index_y(); row < rows; row += cuda::rows_in_grid()) {
      sum += x[row * cols + column];
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  add_up_columns(partial);
  T* const to = gridDim.y == 1 ? out : sums + blockIdx.y * cols;
  if (threadIdx.y == 0 && column < cols) to[column] = partial[0][threadIdx.x];
  if (gridDim.y == 1) return;
  if (!is_last_block(counters + blockIdx.x, gridDim.y)) return;

  sum = 0;
  if (column < cols) {
    for (Index i = threadIdx.y; i < gridDim.y; i += column_tile) sum += sums[i * cols + column];
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  add_up_columns(partial);
  if (threadIdx.y == 0 && column < cols) out[column] = partial[0][threadIdx.x];
}
//! [one_pass_column_sums]

template <typename T>
void column_sums_in_one_pass(cudaStream_t stream, const ColumnSumsProblem<T>& p,
                             Workspace& workspace) {
  if (p.cols == 0) return;
  const Index across = cuda::pieces(p.cols, column_tile);
  // A block of 1,024 threads for each multiprocessor. Each should have some rows to read before the
  // cost of the second tree pays. Where down is not 1, across x down is at most the number of
  // multiprocessors: of the 65,536 counters, `across` are used, and room for 32 sums of each block.
  const Index wanted = std::max<Index>(cuda::multiprocessors() / across, 1);
  const Index down = std::clamp<Index>(cuda::pieces(p.rows, Index{4} * column_tile), 1, wanted);
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
  one_pass_column_sums_kernel<<<grid, dim3(column_tile, column_tile), 0, stream>>>(
      p.rows, p.cols, p.x, workspace.partials<T>(), workspace.counters(), p.out);
  CUDA_CHECK_LAUNCH("one_pass_column_sums");
}

}  // namespace stagewise::shared_memory

/// @file
/// The sums of columns on rung 7: a block for 32 columns.
///
/// Up to rung 6, the threads of a warp stood in one column and read from 32 rows. Here, they stand
/// side by side in a row and read 32 neighbours at once; the 32 warps of the block walk down the
/// rows together. So every thread has its own part of one column, and the tree runs over y, between
/// warps: no bank conflicts, as the lanes differ in x.
///
/// What is slow now: a narrow matrix has few blocks. The 10 columns of a last layer get a single
/// one, and 131 of 132 multiprocessors have nothing to do.
///
/// Run it: `ladder reduce --rung vector-loads`.
/// Work: rows x cols elements read, each once; as many additions.
/// Measured on an H200, the columns of 10,000 x 256: 15.6 us in float, 18.6 us in double.
#pragma once

#include "03_shared_memory/kernels.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {

/// Columns of a block, a warp wide, and the rows that it reads at once.
constexpr int column_tile = 32;

//! [add_up_columns]
/// partial[0][x] becomes the sum of column x of `partial`; all threads of the block call this,
/// after each has written its element. Only those of y = 0 may look at once, each at its own
/// column.
template <typename T>
__device__ void add_up_columns(T (*partial)[column_tile]) {
  __syncthreads();  // every thread has written its own
  for (unsigned stride = column_tile / 2; stride > 0; stride /= 2) {
    if (threadIdx.y < stride) {
      partial[threadIdx.y][threadIdx.x] += partial[threadIdx.y + stride][threadIdx.x];
    }
    __syncthreads();  // the next step reads what this one has written
  }
}
//! [add_up_columns]

//! [coalesced_column_sums]
template <typename T>
__global__ void coalesced_column_sums_kernel(Index rows, Index cols, const T* __restrict__ x,
                                             T* __restrict__ out) {
  __shared__ T partial[column_tile][column_tile];
  const Index column = cuda::index_x();
  T sum = 0;
  if (column < cols) {  // the others must not leave: the barriers of the tree wait for them
#pragma unroll 4
    for (Index row = threadIdx.y; row < rows; row += column_tile) sum += x[row * cols + column];
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  add_up_columns(partial);
  if (threadIdx.y == 0 && column < cols) out[column] = partial[0][threadIdx.x];
}
//! [coalesced_column_sums]

template <typename T>
void column_sums_coalesced(cudaStream_t stream, const ColumnSumsProblem<T>& p,
                           Workspace& /*workspace*/) {
  if (p.cols == 0) return;
  const auto blocks = static_cast<unsigned>(cuda::pieces(p.cols, column_tile));
  coalesced_column_sums_kernel<<<blocks, dim3(column_tile, column_tile), 0, stream>>>(
      p.rows, p.cols, p.x, p.out);
  CUDA_CHECK_LAUNCH("coalesced_column_sums");
}

}  // namespace stagewise::shared_memory

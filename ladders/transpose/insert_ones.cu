/// @file
/// A column of ones before a matrix, out of place: one thread per element of the result.
///
/// Unlike shift.cu, this needs the memory of a second matrix, but only a single launch; and since
/// no thread overwrites what another has yet to read, none has to wait. Where a second matrix is
/// available, as between the layers of a network, it is the better way.
///
/// Loads and stores are coalesced, although a warp that reads 32 neighbours often begins in the
/// middle of a sector, since the rows of both matrices begin at different offsets.
///
/// Work: rows x cols elements read and written, each once.

#include "cuda/launch.cuh"
#include "ladders/transpose/shift.hpp"

namespace stagewise::shared_memory {
namespace {

//! [insert_ones]
template <typename T>
__global__ void insert_ones_kernel(Index rows, Index cols, const T* __restrict__ x, T* __restrict__ y) {
  const Index column = cuda::index_x();
  if (column > cols) return;
  for (Index row = cuda::index_y(); row < rows; row += cuda::rows_in_grid()) {
    y[row * (cols + 1) + column] = column == 0 ? T{1} : x[row * cols + column - 1];
  }
}

template <typename T>
__global__ void remove_column_kernel(Index rows, Index cols, const T* __restrict__ x, T* __restrict__ y) {
  const Index column = cuda::index_x();
  if (column >= cols) return;
  for (Index row = cuda::index_y(); row < rows; row += cuda::rows_in_grid()) {
    y[row * cols + column] = x[row * (cols + 1) + 1 + column];
  }
}
//! [insert_ones]

}  // namespace

template <typename T>
void insert_ones(cudaStream_t stream, Index rows, Index cols, const T* x, T* y) {
  if (rows == 0) return;
  const dim3 block(32, 8);
  const dim3 grid = cuda::grid_for(rows, cols + 1, block);
  insert_ones_kernel<<<grid, block, 0, stream>>>(rows, cols, x, y);
  CUDA_CHECK_LAUNCH("insert_ones");
}

template <typename T>
void remove_column(cudaStream_t stream, Index rows, Index cols, const T* x, T* y) {
  if (rows == 0 || cols == 0) return;
  const dim3 block(32, 8);
  const dim3 grid = cuda::grid_for(rows, cols, block);
  remove_column_kernel<<<grid, block, 0, stream>>>(rows, cols, x, y);
  CUDA_CHECK_LAUNCH("remove_column");
}

template void insert_ones(cudaStream_t, Index, Index, const float*, float*);
template void insert_ones(cudaStream_t, Index, Index, const double*, double*);
template void remove_column(cudaStream_t, Index, Index, const float*, float*);
template void remove_column(cudaStream_t, Index, Index, const double*, double*);

}  // namespace stagewise::shared_memory

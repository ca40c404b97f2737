/// @file
/// What every file with kernels needs: how many blocks to launch, which element a thread computes,
/// and how launches are checked.
#pragma once

#include <algorithm>

#include <cuda_runtime.h>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "tensor/shape.hpp"

namespace stagewise::cuda {

/// Threads per block in one-dimensional launches: a multiple of the 32 threads of a warp, and small
/// enough that several blocks share a multiprocessor, so that one can work while another waits.
constexpr int threads_per_block = 256;

/// The limit of a grid's y and z on every GPU; that of x is 2^31 - 1.
constexpr Index max_grid_y = 65535;

/// The number of pieces of size `size` that cover n elements.
constexpr Index pieces(Index n, Index size) { return (n + size - 1) / size; }

/// The grid of a launch with one thread for each of n elements. If there are none, it has a block
/// all the same, which finds nothing to do: an empty grid is an error.
inline dim3 grid_for(Index n) { return dim3(static_cast<unsigned>(std::max<Index>(1, pieces(n, threads_per_block)))); }

/// The grid of a launch with one thread for each element of a matrix: columns along x, rows along
/// y. For a matrix with very many rows, the kernel must go on to row + rows_in_grid().
inline dim3 grid_for(Index rows, Index cols, dim3 block) {
  return dim3(static_cast<unsigned>(pieces(cols, block.x)),
              static_cast<unsigned>(std::min(pieces(rows, block.y), max_grid_y)));
}

//! [index_x]
/// The number of this thread along x, over all blocks: an element, or a column.
__device__ inline Index index_x() { return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; }
//! [index_x]

/// The number of this thread along y, over all blocks: a row.
__device__ inline Index index_y() { return static_cast<Index>(blockIdx.y) * blockDim.y + threadIdx.y; }

/// The number of rows that the grid covers at once.
__device__ inline Index rows_in_grid() { return static_cast<Index>(gridDim.y) * blockDim.y; }

}  // namespace stagewise::cuda

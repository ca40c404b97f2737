/// @file
/// The grid of both kernels of im2col.
#pragma once

#include <algorithm>

#include "cuda/launch.cuh"

namespace stagewise::ladder {

/// Elements of a row along x, rows of an image along y, images along z. Where there are more than a
/// grid has, blocks go on to others.
inline dim3 grid_for_rows(Index images, Index rows, Index elements) {
  dim3 grid = cuda::grid_for(rows, elements, dim3(cuda::threads_per_block));
  grid.z = static_cast<unsigned>(std::min(images, cuda::max_grid_y));
  return grid;
}

}  // namespace stagewise::ladder

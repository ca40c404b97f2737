/// @file
/// The windows of a convolution as rows of a matrix, and the way back.
#pragma once

#include <algorithm>

#include <cuda_runtime.h>

#include "cuda/launch.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// The grid of both kernels: elements of a row along x, rows of an image along y, images along z.
/// Where there are more than a grid has, blocks go on to others.
inline dim3 grid_for_rows(Index images, Index rows, Index elements) {
  dim3 grid = cuda::grid_for(rows, elements, dim3(cuda::threads_per_block));
  grid.z = static_cast<unsigned>(std::min(images, cuda::max_grid_y));
  return grid;
}

/// columns [pixels, window] = the windows of the input, a row for each output pixel ("im2col"). The
/// windows of a row of pixels have at most 2^31 - 1 elements.
template <typename T>
void im2col(cudaStream_t stream, const ConvolutionProblem& problem, const T* input, T* columns);

/// The reverse for gradients: each element of dinput is the sum of all places in dcolumns
/// [pixels, window] where it was seen ("col2im").
template <typename T>
void col2im(cudaStream_t stream, const ConvolutionProblem& problem, const T* dcolumns, T* dinput);

}  // namespace stagewise::shared_memory

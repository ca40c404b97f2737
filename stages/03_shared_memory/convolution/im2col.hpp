/// @file
/// The windows of a convolution as rows of a matrix, and the way back.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::shared_memory {

/// columns [pixels, window] = the windows of the input, a row for each output pixel ("im2col").
template <typename T>
void im2col(cudaStream_t stream, const ConvolutionProblem& problem, const T* input, T* columns);

/// The reverse for gradients: each element of dinput is the sum of all places in dcolumns
/// [pixels, window] where it was seen ("col2im").
template <typename T>
void col2im(cudaStream_t stream, const ConvolutionProblem& problem, const T* dcolumns, T* dinput);

}  // namespace stagewise::shared_memory

/// @file
/// Average pooling and its gradient. See PoolingProblem for the shapes.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::naive_cuda {

/// The mean of every window of window x window pixels, windows side by side.
template <typename T>
void average_pool(cudaStream_t stream, const PoolingProblem& problem, const T* input, T* output);

/// The gradient of average_pool(): each pixel gets its window's share.
template <typename T>
void average_pool_backward(cudaStream_t stream, const PoolingProblem& problem, const T* doutput,
                           T* dinput);

}  // namespace stagewise::naive_cuda

/// @file
/// Stochastic gradient descent, one thread per parameter.
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::naive_cuda {

/// parameter -= learning_rate (gradient + l2 parameter), elementwise.
template <typename T>
void sgd_update(cudaStream_t stream, Index n, T learning_rate, T l2, const T* gradient,
                T* parameter);

}  // namespace stagewise::naive_cuda

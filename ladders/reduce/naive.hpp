/// @file
/// The sum of a whole array by one thread.
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::naive_cuda {

/// out[0] = the sum of n elements.
template <typename T>
void sum(cudaStream_t stream, Index n, const T* x, T* out);

}  // namespace stagewise::naive_cuda

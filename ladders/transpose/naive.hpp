/// @file
/// Transposition, one thread per element.
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::naive_cuda {

/// y = x^T: x is [rows, cols], y is [cols, rows]; they must not overlap.
template <typename T>
void transpose(cudaStream_t stream, Index rows, Index cols, const T* x, T* y);

}  // namespace stagewise::naive_cuda

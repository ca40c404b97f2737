/// @file
/// Sums: one thread per result.
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::naive_cuda {

/// out[j] = the sum of column j of x [rows, cols]: the gradient of a bias.
template <typename T>
void column_sums(cudaStream_t stream, Index rows, Index cols, const T* x, T* out);

}  // namespace stagewise::naive_cuda

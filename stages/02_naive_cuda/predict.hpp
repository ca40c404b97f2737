/// @file
/// From outputs to classes: one thread per row.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::naive_cuda {

/// out[i] = the column of the largest element of row i of x [rows, cols]; the lowest column wins
/// ties.
template <typename T>
void argmax(cudaStream_t stream, Index rows, Index cols, const T* x, std::int32_t* out);

/// out[i] = 1 where x[i] >= cut, else 0.
template <typename T>
void threshold(cudaStream_t stream, Index rows, T cut, const T* x, std::int32_t* out);

}  // namespace stagewise::naive_cuda

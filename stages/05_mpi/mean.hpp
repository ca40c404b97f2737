/// @file
/// From a sum over the ranks to their mean.
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::mpi {

/// x[i] = x[i] / count, for n elements.
template <typename T>
void divide(cudaStream_t stream, Index n, T count, T* x);

}  // namespace stagewise::mpi

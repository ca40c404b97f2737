/// @file
/// Matrix multiplication, one thread an element of the result.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::naive_cuda {

/// Side of a square block of threads, 256 of them, where nobody asks for another.
constexpr int default_block_size = 16;

/// C = alpha op(A) op(B) + beta C; see GemmProblem for shapes. Any sizes, including 0 and 1. With
/// beta = 0, C is written without being read.
/// @param block_size side of the square block of threads: 1 to 32, since a block ends at 1,024.
template <typename T>
void gemm(cudaStream_t stream, const GemmProblem<T>& problem, int block_size = default_block_size);

}  // namespace stagewise::naive_cuda

/// @file
/// Matrix multiplication, one thread per element of the result.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::naive_cuda {

/// The default side of a square block of threads: 256 threads.
constexpr int default_block_size = 16;

/// C = alpha op(A) op(B) + beta C; see GemmProblem for shapes. All sizes work, including 0 and 1.
/// With beta = 0, C is written without being read.
/// @param block_size side of the square block of threads: 1 to 32, as a block has at most 1,024.
template <typename T>
void gemm(cudaStream_t stream, const GemmProblem<T>& problem, int block_size = default_block_size);

}  // namespace stagewise::naive_cuda

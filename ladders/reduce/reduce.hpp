/// @file
/// The sum of a whole array, by one thread and as a ladder of kernels.
#pragma once

#include "03_shared_memory/kernels.hpp"

namespace stagewise::naive_cuda {

/// out[0] = the sum of n elements, by one thread.
template <typename T>
void sum(cudaStream_t stream, Index n, const T* x, T* out);

}  // namespace stagewise::naive_cuda

namespace stagewise::shared_memory {

/// out[0] = the sum of n elements.
template <typename T>
struct SumProblem {
  Index n = 0;
  const T* x = nullptr;
  T* out = nullptr;
};

/// Variants of the sum, from the slowest to the fastest; see the files in this folder, and the
/// trees in stages/03_shared_memory/reduce/. The rungs have the names of column_sums_ladder()'s.
template <typename T>
Ladder<SumProblem<T>> sum_ladder();

}  // namespace stagewise::shared_memory

/// @file
/// Rung 7, "vector-loads": few blocks that stay, and loads of 16 bytes.
///
/// Up to rung 6, every 512 elements cost a block: its start, its tree, its partial sum. Here, a
/// fixed number of blocks, a few for each multiprocessor, strides over the whole array, and each
/// thread adds many elements in registers before the only tree of its block. Whatever the array's
/// length, two launches are enough: the second one is a single block that adds up the partial sums.
///
/// A load fetches 16 bytes, four floats, so that a quarter of the instructions keeps the memory
/// busy; each component has a sum of its own, which also keeps the rounding of long runs down. Such
/// loads must begin at a multiple of 16 bytes. The elements before the first one and after the
/// last, at most three each in float, are added one by one.
///
/// What is slow now: the second launch, which does next to nothing.
///
/// Run it: `ladder reduce --rung vector-loads`.
/// Work: n elements read, some hundred partial sums written and read; n - 1 additions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "03_shared_memory/reduce.hpp"
#include "03_shared_memory/reduce/6_shuffles.cuh"
#include "03_shared_memory/vector.cuh"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.cuh"

namespace stagewise::shared_memory {

//! [strided_sum]
/// What this thread finds when the whole grid strides over n elements.
template <typename T>
__device__ T strided_sum(Index n, const T* x) {
  constexpr int length = Vector<T>::length;
  const auto unaligned =
      static_cast<Index>(reinterpret_cast<std::uintptr_t>(x) / sizeof(T) % length);
  const Index head = unaligned == 0 ? 0 : min(n, length - unaligned);
  const Index vectors = (n - head) / length;
  const Index tail = head + vectors * length;
  const Index first = cuda::index_x();
  const Index stride = static_cast<Index>(gridDim.x) * blockDim.x;

  T sums[length] = {};
  const auto* const body = reinterpret_cast<const Vector<T>*>(x + head);
#pragma unroll 4
  for (Index i = first; i < vectors; i += stride) {
    const Vector<T> vector = body[i];
#pragma unroll
    for (int j = 0; j < length; ++j) sums[j] += vector.values[j];
  }
  if (first < head) sums[0] += x[first];
  if (first < n - tail) sums[1] += x[tail + first];
  T sum = 0;
#pragma unroll
  for (int j = 0; j < length; j += 2) sum += sums[j] + sums[j + 1];
  return sum;
}
//! [strided_sum]

//! [strided_sums]
template <typename T>
__global__ void strided_sums_kernel(Index n, const T* __restrict__ x, T* sums) {
  __shared__ T partial[cuda::threads_per_block];
  partial[threadIdx.x] = strided_sum(n, x);
  Shuffles::add_up(partial);
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
//! [strided_sums]

/// The blocks that the current GPU runs at once, at 256 threads each: as many as it has room for
/// would be eight a multiprocessor, and four suffice to keep the memory busy.
inline Index resident_blocks() {
  return Index{4} * cuda::multiprocessors();
}

/// The blocks of a strided sum: no more than have four loads for each thread, which are on their
/// way together; with fewer, the partial sums would take longer than what was added up.
template <typename T>
unsigned strided_blocks(Index n) {
  const Index shares = cuda::pieces(n, Index{4} * cuda::threads_per_block * Vector<T>::length);
  return static_cast<unsigned>(std::clamp<Index>(shares, 1, resident_blocks()));
}

/// The sum in two launches: one for the partial sums, and one block for their sum.
template <typename T>
void sum_with_vector_loads(cudaStream_t stream, const SumProblem<T>& p, Workspace& workspace) {
  const unsigned blocks = strided_blocks<T>(p.n);
  T* const sums = blocks == 1 ? p.out : workspace.partials<T>();
  strided_sums_kernel<<<blocks, cuda::threads_per_block, 0, stream>>>(p.n, p.x, sums);
  CUDA_CHECK_LAUNCH("strided_sums");
  if (blocks == 1) return;
  strided_sums_kernel<<<1, cuda::threads_per_block, 0, stream>>>(blocks, sums, p.out);
  CUDA_CHECK_LAUNCH("strided_sums");
}

}  // namespace stagewise::shared_memory

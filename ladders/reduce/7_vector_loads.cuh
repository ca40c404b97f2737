/// @file
/// Rung 7, "vector-loads": few blocks that stay, and loads of 16 bytes.
///
/// Up to rung 6, every 512 elements cost a block: its start, its tree, its partial sum. Here, a
/// fixed number of blocks, a few for each multiprocessor, strides over the whole array, and each
/// thread adds many elements in registers before the only tree of its block. Whatever the array's
/// length, two launches are enough: the second one is a single block that adds up the partial sums.
///
/// A load fetches 16 bytes, four floats, so that a quarter of the instructions keeps the memory
/// busy, and a thread has several of them on their way before it adds the first. Each component has
/// a sum of its own, which also keeps the rounding of long runs down. Such loads must begin at a
/// multiple of 16 bytes. The elements before the first one and after the last, at most three each
/// in float, are added one by one.
///
/// What is slow now: the second launch, which does next to nothing.
///
/// Run it: `ladder reduce --rung vector-loads`.
/// Work: n elements read, some hundred partial sums written and read; n - 1 additions.
/// Measured on an H200, 2^20 numbers: 3.25 us in float, 3.92 us in double.
#pragma once

#include <algorithm>
#include <cstdint>

#include "03_shared_memory/reduce/6_shuffles.cuh"
#include "03_shared_memory/vector.cuh"
#include "cuda/launch.cuh"
#include "ladders/reduce/reduce.hpp"

namespace stagewise::shared_memory {

/// Loads that a thread has under way at once: of 16 elements.
template <typename T>
constexpr int loads_at_once = 16 / Vector<T>::length;

//! [strided_sum]
/// What this thread finds when the whole grid strides over n elements. In each step, a block takes
/// loads_at_once times as many neighbouring vectors as it has threads.
template <typename T>
__device__ T strided_sum(Index n, const T* x) {
  constexpr int length = Vector<T>::length;
  constexpr int loads = loads_at_once<T>;
  const auto unaligned = static_cast<Index>(reinterpret_cast<std::uintptr_t>(x) / sizeof(T) % length);
  const Index head = unaligned == 0 ? 0 : min(n, length - unaligned);
  const Index vectors = (n - head) / length;
  const Index tail = head + vectors * length;
  const auto* const body = reinterpret_cast<const Vector<T>*>(x + head);

  T sums[length] = {};
  const Index of_block = Index{loads} * blockDim.x;
  for (Index start = blockIdx.x * of_block; start < vectors; start += gridDim.x * of_block) {
    const Index place = start + threadIdx.x;
    Vector<T> fetched[loads];  // all on their way before any of them is waited for, and no branches
#pragma unroll
    for (int i = 0; i < loads; ++i) fetched[i] = body[min(place + i * blockDim.x, vectors - 1)];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const bool inside = place + i * blockDim.x < vectors;
#pragma unroll
      for (int j = 0; j < length; ++j) sums[j] += inside ? fetched[i].values[j] : T{0};
    }
  }
  const Index first = cuda::index_x();
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

/// The blocks of a strided sum: no more than have all loads of a step for each thread; with fewer,
/// the partial sums would take longer than what was added up. And no more than forty for each
/// multiprocessor, which has room for eight: who is done early gets another one, and none idles
/// while the slowest ends.
template <typename T>
unsigned strided_blocks(Index n) {
  const Index most = Index{40} * cuda::multiprocessors();
  const Index of_block = Index{loads_at_once<T>} * Vector<T>::length * cuda::threads_per_block;
  return static_cast<unsigned>(std::clamp<Index>(cuda::pieces(n, of_block), 1, most));
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

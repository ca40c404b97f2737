/// @file
/// What a block of output_layer() has in shared memory: the weights, and what its threads leave for
/// each other.
#pragma once

#include <algorithm>

#include "03_shared_memory/gemm/copy_async.cuh"
#include "03_shared_memory/vector.cuh"
#include "network/problems.hpp"

namespace stagewise::minibatch {

//! [block_memory]
/// What a block of `threads` threads has in shared memory.
/// @tparam most at least as many as there are outputs, so that a row of them fits into registers.
template <int most, int threads, typename T>
struct BlockMemory {
  static constexpr int warps = threads / 32;

  /// Rows whose sums a thread has in registers at the same time.
  static constexpr int rows_at_once = std::min(8, 96 / most * 4 / static_cast<int>(sizeof(T)));

  static constexpr int length = shared_memory::Vector<T>::length;
  /// Of a row of weights. The lanes of a warp read neighbouring rows as vectors: an odd number of
  /// vectors a row lets them read different banks.
  static constexpr int stride = (most / length | 1) * length;

  T* weights;    ///< [in][stride], filled up with zeros
  T* sums;       ///< [warps][rows][most]
  T* outputs;    ///< [rows][most], where the first warp's sums were
  T* gradients;  ///< [rows][most], where the second warp's were

  __device__ BlockMemory(unsigned char* memory, int in, int rows)
      : weights(reinterpret_cast<T*>(memory)),
        sums(weights + in * stride),
        outputs(sums),
        gradients(sums + rows * most) {}

  /// @param rows a multiple of rows_at_once.
  static std::size_t bytes(Index in, Index rows) {
    return static_cast<std::size_t>(in * stride + warps * rows * most) * sizeof(T);
  }

  /// Copies the weights. All threads of the block call it.
  __device__ void fetch_weights(const LinearProblem<T>& layer) {
    const auto in = static_cast<int>(layer.in);
    const auto out = static_cast<int>(layer.out);
    constexpr int rows = threads / most;  // at the same time
    const int j = static_cast<int>(threadIdx.x) % most;
    const int first = static_cast<int>(threadIdx.x) / most;
    for (int i = first; i < in && first < rows; i += rows) {
      const T* const from = layer.weight + (j < out ? i * out + j : 0);
      shared_memory::copy_async<sizeof(T)>(weights + i * stride + j, from, j < out);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
  }

  /// The weights of an input.
  __device__ void row(int i, T (&values)[most]) const { load(weights + i * stride, values); }

  /// The gradients of a row.
  __device__ void gradients_of(int row, T (&values)[most]) const {
    load(gradients + row * most, values);
  }

 private:
  static __device__ void load(const T* from, T (&values)[most]) {
#pragma unroll
    for (int j = 0; j < most; j += length) {
      const auto part = *reinterpret_cast<const shared_memory::Vector<T>*>(from + j);
#pragma unroll
      for (int k = 0; k < length; ++k) values[j + k] = part.values[k];
    }
  }
};
//! [block_memory]

/// Rows that a block works on at a time.
struct BlockRows {
  Index first;
  int count;

  /// Which row of the batch is number `row`; past the last one, that once more.
  __device__ Index place(int row) const { return first + (row < count ? row : count - 1); }
};

}  // namespace stagewise::minibatch

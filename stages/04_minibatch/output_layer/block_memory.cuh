/// @file
/// What a block of output_layer() has in shared memory: the weights, and what its threads leave for
/// each other.
#pragma once

#include <cstdint>

#include "03_shared_memory/vector.cuh"
#include "network/problems.hpp"

namespace stagewise::minibatch {

//! [block_memory]
/// What a block of `threads` threads has in shared memory.
/// @tparam most at least as many as there are outputs, so that a row of them fits into registers.
template <int most, int threads, typename T>
struct BlockMemory {
  static constexpr int length = shared_memory::Vector<T>::length;
  /// Of a row of weights. The lanes of a warp read neighbouring rows as vectors: an odd number of
  /// vectors a row lets them read different banks.
  static constexpr int stride = (most / length | 1) * length;

  T* weights;    ///< [in][stride]; zeros from the outputs to `most`
  T* outputs;    ///< [rows][most]
  T* gradients;  ///< [rows][most], filled up with zeros
  T* inputs;     ///< [rows][in]

  __device__ BlockMemory(unsigned char* memory, int in, int rows)
      : weights(reinterpret_cast<T*>(memory)),
        outputs(weights + in * stride),
        gradients(outputs + rows * most),
        inputs(gradients + rows * most) {}

  /// How many bytes the weights take, and how many each row of the batch.
  static constexpr Index bytes_of_weights(Index in) {
    return in * stride * static_cast<Index>(sizeof(T));
  }
  /// See above.
  static constexpr Index bytes_of_row(Index in) {
    return (in + Index{2} * most) * static_cast<Index>(sizeof(T));
  }

  /// Requests the weights, in pieces as large as their rows allow. All threads of the block call
  /// it.
  __device__ void request_weights(const LinearProblem<T>& layer) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(layer.weight);
    const auto comes_in = [&](int piece) {
      return layer.out % piece == 0 && begin % (piece * sizeof(T)) == 0;
    };
    if (comes_in(length)) return request_pieces<length>(layer);
    if (length > 2 && comes_in(2)) return request_pieces<2>(layer);
    request_pieces<1>(layer);
  }

  /// Waits for them. All threads of the block call it.
  static __device__ void wait_for_weights() {
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
  /// Neighbouring threads request neighbouring pieces.
  template <int piece>
  __device__ void request_pieces(const LinearProblem<T>& layer) const {
    const auto in = static_cast<int>(layer.in);
    const auto out = static_cast<int>(layer.out);
    constexpr int pieces = most / piece;    // of a row, with its padding
    constexpr int rows = threads / pieces;  // at the same time
    const int j = static_cast<int>(threadIdx.x) % pieces * piece;
    const int first = static_cast<int>(threadIdx.x) / pieces;
    const T* from = layer.weight + first * out + (j < out ? j : 0);
    T* to = weights + first * stride + j;
    for (int i = first < rows ? first : in; i < in; i += rows) {
      shared_memory::copy_async<piece * sizeof(T)>(to, from, j < out);
      from += rows * out;
      to += rows * stride;
    }
    __pipeline_commit();
  }

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

  /// The batch's row for `row` of the block; past the last, the last.
  __device__ Index batch_row(int row) const { return first + (row < count ? row : count - 1); }
};

}  // namespace stagewise::minibatch

/// @file
/// Bias, relu and pooling where the product's sums are: in registers.
///
/// Stage 03 wrote the convolution, read and wrote it again to add the bias and again for the relu,
/// and read it once more to pool it. Here the four pixels of a window are in the registers of one
/// thread, or of two, when their sums are complete (pooled_windows.cuh). What is left to write is
/// their mean: a quarter of the values, once. Training needs the values behind the relu as well,
/// for the way back; they are written, and not read.
///
/// The main loop's kernel calls finish_tile() with the epilogue, and overload resolution finds the
/// one below, as it is the more specialized.
///
/// Run it: `stage04_minibatch evaluate --model cnn ...`, or `train`.
/// Bytes, for pixels x out values: a quarter of them written, and all where `activated` is asked
/// for; stage 03 moves 6.25 times as many as there are.
#pragma once

#include "03_shared_memory/gemm/main_loop.cuh"
#include "03_shared_memory/reduce/6_shuffles.cuh"
#include "04_minibatch/convolution/pooled_windows.cuh"

namespace stagewise::minibatch {

using shared_memory::Vector;

/// The epilogue's operands.
template <typename T>
struct ReluPool {
  PoolingOrder order;
  const T* bias;  ///< null: none
  T* activated;   ///< null: not stored
  T* out;
  bool vectors;  ///< whether activated and out can be written 16 bytes at a time

  explicit ReluPool(const ConvolutionReluPoolProblem<T>& p)
      : order(p.convolution.output_width()),
        bias(p.bias),
        activated(p.activated),
        out(p.output),
        vectors(shared_memory::is_aligned(p.output, p.convolution.out) &&
                shared_memory::is_aligned(p.activated, p.convolution.out)) {}

  /// The bias of a column, if there is one.
  __device__ T bias_of(int column, int n) const {
    return bias != nullptr && column < n ? bias[column] : T{0};
  }

  /// Stores neighbours of a row of a matrix with n columns, as far as there are so many.
  __device__ void store(T* matrix, int row, int column, int n, const Vector<T>& values) const {
    T* const to = matrix + static_cast<Index>(row) * n + column;
    if (vectors) {
      if (column < n) *reinterpret_cast<Vector<T>*>(to) = values;
      return;
    }
#pragma unroll
    for (int v = 0; v < Vector<T>::length; ++v) {
      if (column + v < n) to[v] = values.values[v];
    }
  }
};

//! [finish_tile]
/// A thread has its rows in groups of 16 bytes: a whole window in float. In double it has half of
/// one, and the lane below or above the other; both add up the same two sums.
template <typename T, typename Tiling>
__device__ void finish_tile(const ReluPool<T>& epilogue, shared_memory::TilePlace tile, int m,
                            int n, const shared_memory::Sums<T, Tiling>& sums) {
  constexpr int group = Tiling::group;
  constexpr int lanes_in_window = pooled_pixels / group;
  static_assert(lanes_in_window <= 2 && Tiling::lanes_down % lanes_in_window == 0,
                "a window must be one thread's, or that of two neighbours");
#pragma unroll
  for (int j = 0; j < Tiling::TN; j += group) {
    const int column = tile.left + Tiling::column(j);
    T biases[group];
#pragma unroll
    for (int v = 0; v < group; ++v) biases[v] = epilogue.bias_of(column + v, n);
#pragma unroll
    for (int i = 0; i < Tiling::TM; i += group) {
      const int row = tile.top + Tiling::row(i);
      Vector<T> means = {};
#pragma unroll
      for (int r = 0; r < group; ++r) {
        Vector<T> values;
#pragma unroll
        for (int v = 0; v < group; ++v) {
          const T x = sums.values[i + r][j + v] + biases[v];
          values.values[v] = x < 0 ? T{0} : x;  // a NaN is not < 0 and stays
          means.values[v] += values.values[v] * (T{1} / pooled_pixels);
        }
        if (epilogue.activated != nullptr && row < m) {
          epilogue.store(epilogue.activated, epilogue.order.pixel(row + r), column, n, values);
        }
      }
      if constexpr (lanes_in_window == 2) {  // all lanes are here, those beyond the edges, too
#pragma unroll
        for (int v = 0; v < group; ++v) {
          means.values[v] +=
              __shfl_xor_sync(shared_memory::all_lanes, means.values[v], Tiling::lanes_across);
        }
      }
      if (row < m && row % pooled_pixels == 0) {
        epilogue.store(epilogue.out, row / pooled_pixels, column, n, means);
      }
    }
  }
}
//! [finish_tile]

}  // namespace stagewise::minibatch

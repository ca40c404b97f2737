/// @file
/// The outputs of a few rows, by a warp.
#pragma once

#include "04_minibatch/output_layer/block_memory.cuh"

namespace stagewise::minibatch {

/// How many lanes a row's outputs take: a power of two.
template <int most>
constexpr int lanes_a_row = most <= 4    ? 4
                            : most <= 8  ? 8
                            : most <= 16 ? 16
                                         : 32;

/// How many rows a warp works on at a time: then it has a lane for each output.
template <int most>
constexpr int rows_at_once = 32 / lanes_a_row<most>;

/// Which inputs of which rows a warp multiplies: `rows_at_once` rows from `row` on.
struct RowProducts {
  int row;
  int next_row;  ///< of those that come next
  int begin;     ///< the first input; a multiple of 32
  int end;
};

/// The inputs that a lane needs next, on their way while it uses those before them.
template <int rows_, typename T>
struct NextInputs {
  static constexpr int rows = rows_;
  static constexpr int ahead = rows < 4 ? 4 : 2;  ///< inputs of a row
  static constexpr int of_warp = 32 * ahead;

  T values[ahead][rows];

  /// Requests the inputs of rows `row`, `row` + 1, ... from number `begin` to before `end`.
  __device__ void fetch(const LinearProblem<T>& layer, const BlockRows& from, int row, int begin,
                        int end) {
    const int i = begin + static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const T* const inputs = layer.input + from.batch_row(row + r) * layer.in;
#pragma unroll
      for (int k = 0; k < ahead; ++k) {
        if (i + 32 * k < end) values[k][r] = inputs[i + 32 * k];
      }
    }
  }
};

//! [products]
/// Multiplies a lane's inputs by their weights and adds up the products, for each row and output.
/// Leaves the inputs in shared memory.
/// @param next has requested these rows' first inputs; afterwards, those of the next rows.
template <int most, int threads, typename T>
__device__ void add_products(const LinearProblem<T>& layer, const BlockRows& rows,
                             const BlockMemory<most, threads, T>& memory, const RowProducts& part,
                             NextInputs<rows_at_once<most>, T>& next, T (&sums)[32]) {
  using Next = NextInputs<rows_at_once<most>, T>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto in = static_cast<int>(layer.in);
#pragma unroll 1
  for (int begin = part.begin; begin < part.end; begin += Next::of_warp) {
    const Next inputs = next;
    if (begin + Next::of_warp < part.end) {
      next.fetch(layer, rows, part.row, begin + Next::of_warp, part.end);
    } else if (part.next_row < rows.count) {
      next.fetch(layer, rows, part.next_row, part.begin, part.end);
    }
    const auto add = [&]<bool is_whole>() {
#pragma unroll
      for (int k = 0; k < Next::ahead; ++k) {
        const int i = begin + 32 * k + lane;
        if (!is_whole && i >= part.end) continue;
        T weights[most];
        memory.row(i, weights);
#pragma unroll
        for (int r = 0; r < Next::rows; ++r) {
          const T x = inputs.values[k][r];
          memory.inputs[(part.row + r) * in + i] = x;
#pragma unroll
          for (int j = 0; j < most; ++j) sums[r * lanes_a_row<most> + j] += x * weights[j];
        }
      }
    };
    begin + Next::of_warp <= part.end ? add.template operator()<true>()
                                      : add.template operator()<false>();
  }
}
//! [products]

}  // namespace stagewise::minibatch

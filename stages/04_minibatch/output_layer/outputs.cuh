/// @file
/// The outputs of a block's rows, their losses and the gradients of the outputs.
///
/// A warp takes as many rows as leave a lane for each output. It goes from their inputs to the
/// gradients of their outputs without waiting for another warp, unless several share its rows.
#pragma once

#include "04_minibatch/linear/activation.cuh"
#include "04_minibatch/output_layer/block_memory.cuh"
#include "04_minibatch/output_layer/block_partial.cuh"
#include "04_minibatch/output_layer/row_loss.cuh"
#include "04_minibatch/output_layer/warp_reduce_scatter.cuh"

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

/// How many warps share a row, each for some of its inputs: more than one if there are fewer groups
/// of rows than warps, and enough inputs.
template <int most, int warps>
__device__ int warps_a_row(int rows, int in) {
  constexpr int least_inputs = 256;
  const int groups = (rows + rows_at_once<most> - 1) / rows_at_once<most>;
  int parts = 1;
  while (2 * parts * groups <= warps && in >= 2 * parts * least_inputs) parts *= 2;
  return parts;
}

/// Computes the losses of a warp's rows, and the gradients of their outputs. All lanes of the warp
/// call it.
/// @param row this lane's: one of those that the warp takes at once.
/// @param sum this lane's output, before bias and activation.
template <int most, int threads, typename T>
__device__ void row_losses(const OutputLayerProblem<T>& p, const BlockRows& rows,
                           const BlockMemory<most, threads, T>& memory, int row, std::int32_t label,
                           T sum, T bias, BlockPartial& partial) {
  constexpr int lanes = lanes_a_row<most>;
  const auto out = static_cast<int>(p.layer.forward.out);
  const int j = static_cast<int>(threadIdx.x) % lanes;  // the output of this lane
  T* const outputs = memory.outputs + row * most;
  T* const gradients = memory.gradients + row * most;
  if (j < most) {
    outputs[j] = activate(p.loss.activation, sum + bias);
    gradients[j] = 0;
  }
  __syncwarp();
  const BlockPartial of_row = row_loss<lanes, true>(p.loss, outputs, label, gradients);
  if (row >= rows.count) return;
  add(of_row, partial);
  if (p.layer.doutput != nullptr && j < out) {
    p.layer.doutput[(rows.first + row) * out + j] = gradients[j];
  }
}

/// Computes the outputs of the rows, their losses and the gradients of the outputs. All threads
/// of the block call it.
/// @param waits whether the weights may still be on their way.
template <int most, int threads, typename T>
__device__ void find_losses(const OutputLayerProblem<T>& p, const BlockRows& rows,
                            const BlockMemory<most, threads, T>& memory, bool waits,
                            BlockPartial& partial) {
  constexpr int lanes = lanes_a_row<most>;
  constexpr int at_once = rows_at_once<most>;
  using Next = NextInputs<at_once, T>;
  constexpr int warps = threads / 32;
  __shared__ T totals[warps][32];
  const LinearProblem<T>& layer = p.layer.forward;
  const auto in = static_cast<int>(layer.in);
  const auto out = static_cast<int>(layer.out);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int j = lane % lanes;  // the output of this lane
  const int parts = warps_a_row<most, warps>(rows.count, in);
  const int of_part = (in + parts * Next::of_warp - 1) / (parts * Next::of_warp) * Next::of_warp;
  const int distance = warps / parts * at_once;  // to a warp's next rows
  RowProducts part = {.row = warp / parts * at_once, .begin = warp % parts * of_part};
  part.end = part.begin + of_part < in ? part.begin + of_part : in;
  Next next;
  next.fetch(layer, rows, part.row, part.begin, part.end);
  const T bias = layer.bias != nullptr && j < out ? layer.bias[j] : T{0};
  std::int32_t next_label = label_of(p.loss, rows.batch_row(part.row + lane / lanes));
  if (waits) memory.wait_for_weights();
  for (int round = 0; round < rows.count; round += distance, part.row += distance) {
    const int own_row = part.row + lane / lanes;
    part.next_row = part.row + distance;
    const std::int32_t label = next_label;
    next_label = label_of(p.loss, rows.batch_row(own_row + distance));
    T total = 0;
    if (part.row < rows.count) {
      T sums[32] = {};
      add_products(layer, rows, memory, part, next, sums);
      total = warp_reduce_scatter(sums);
    }
    if (parts > 1) {  // then there is only one round
      totals[warp][lane] = total;
      __syncthreads();
      for (int other = 1; other < parts; ++other) total += totals[(warp + other) % warps][lane];
    }
    if (part.row >= rows.count || warp % parts != 0) continue;
    row_losses(p, rows, memory, own_row, label, total, bias, partial);
  }
}

//! [summed]
/// The same where the product is given: it has been added up over the processes, each of which has
/// some of the inputs. The rows' inputs still go to shared memory, for the way back.
template <int most, int threads, typename T>
__device__ void find_losses_of_products(const OutputLayerProblem<T>& p, const BlockRows& rows,
                                        const BlockMemory<most, threads, T>& memory, bool waits,
                                        BlockPartial& partial) {
  constexpr int lanes = lanes_a_row<most>;
  const LinearProblem<T>& layer = p.layer.forward;
  const auto out = static_cast<int>(layer.out);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int j = lane % lanes;
  const T bias = layer.bias != nullptr && j < out ? layer.bias[j] : T{0};
  const T* const inputs = layer.input + rows.first * layer.in;
  for (Index i = threadIdx.x; i < rows.count * layer.in; i += threads) memory.inputs[i] = inputs[i];
  constexpr int at_once = rows_at_once<most>;
  constexpr int warps = threads / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int row = warp * at_once; row < rows.count; row += warps * at_once) {
    const int own_row = row + lane / lanes;
    const Index batch_row = rows.batch_row(own_row);
    const T sum = j < out ? p.product[batch_row * out + j] : T{0};
    row_losses(p, rows, memory, own_row, label_of(p.loss, batch_row), sum, bias, partial);
  }
  if (waits) memory.wait_for_weights();
}
//! [summed]

}  // namespace stagewise::minibatch

/// @file
/// The last layer, the loss and the backward pass through that layer in one kernel.
#pragma once

#include <cuda_runtime.h>

#include "04_minibatch/output_layer/loss.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// A last layer and its loss.
template <typename T>
struct OutputLayerProblem {
  LinearBackwardProblem<T> layer;  ///< without activation, which the loss applies; see LossProblem
  LossProblem<T> loss;
  const T* product = nullptr;  ///< input weight [rows, out], if it is there; null: to be computed
  T* shares = nullptr;         ///< [max_shares(), shares_length()]; null: not wanted
  /// Whether the weights are complete before this kernel can start.
  bool weight_is_independent = false;
};

/// The gradients of a last layer, as the blocks of output_layer() have left them, and what becomes
/// of them.
template <typename T>
struct SharesProblem {
  const T* shares = nullptr;  ///< [count, shares_length()]; null: there is nothing to do
  Index count = 0;
  Index in = 0;
  Index out = 0;
  GradientTarget<T> weight;
  GradientTarget<T> bias;
  TotalsProblem totals;
};

/// The largest number of shares of a batch of so many rows, or fewer.
Index max_shares(Index rows);

/// How long a share is: the gradient of the weights, transposed, [out, in], then that of the bias,
/// padded to a multiple of 8.
__host__ __device__ constexpr Index shares_length(Index in, Index out) {
  return ((in + 1) * out + 7) / 8 * 8;
}

/// Whether output_layer() supports layers of this many inputs and outputs: few outputs, and weights
/// that fit into shared memory.
template <typename T>
bool fits_output_layer(Index in, Index out);

/// Computes the layer's output, without storing it; the loss and the predictions, as partials; the
/// gradient of the output, `layer.doutput`; and, unless null, that of the input, `layer.dinput`.
/// If `shares` is given, also computes the gradients of weights and bias, as shares.
/// @param partials has room for max_partials().
/// @return the number of partials, and of shares.
/// @pre fits_output_layer(), loss.doutputs is layer.doutput, and the input's rows are not selected.
template <typename T>
Index output_layer(cudaStream_t stream, const OutputLayerProblem<T>& problem,
                   BlockPartial* partials);

/// Adds up the shares, which gives the gradients of weights and bias, and adds the partials to the
/// totals.
template <typename T>
void add_shares(cudaStream_t stream, const SharesProblem<T>& problem);

}  // namespace stagewise::minibatch

/// @file
/// The loss of a batch, with the last layer or without it, forward and backward: a ladder of three.
///
///  1. loss(): the loss, its gradient and the predictions, given the outputs.
///  2. warp_per_row(): the last layer, too, and the way back through it; a warp takes a row.
///  3. output_layer(): the gradients of the layer's parameters, too; a block takes some rows.
///
/// All of them leave a partial for each block, and add_to_totals() adds these up.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::minibatch {

/// The outputs of a network in training, and the expected labels.
template <typename T>
struct LossProblem {
  Index rows = 0;
  Index batch_rows = 0;  ///< rows of the whole batch, over which the mean is taken
  Index classes = 0;
  LossKind loss = LossKind::cross_entropy;
  bool has_threshold = false;  ///< a single output means class 1 from `threshold` on
  T threshold = 0;             ///< without one, the largest output names the class
  const T* outputs = nullptr;  ///< [rows, classes]
  Activation activation = {};  ///< that computed the outputs
  const std::int32_t* labels = nullptr;
  const std::uint32_t* order = nullptr;  ///< row i has labels[order[i]]; null: labels[i]
  T* doutputs = nullptr;                 ///< the gradient of the mean loss, before the activation
};

/// Where the totals of a batch are added up.
struct TotalsProblem {
  const BlockPartial* partials = nullptr;
  Index count = 0;
  Totals* totals = nullptr;
  const std::int64_t* steps_before = nullptr;  ///< in device memory; null: none
  std::int64_t step = 0;  ///< this step's number after those: for Totals::first_bad_step
};

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

/// The largest number of partials that the three functions below store.
Index max_partials();

/// Computes the gradient of the loss, and the block partials, each over some of the rows.
/// @param partials has room for max_partials().
/// @return the number of partials.
template <typename T>
Index loss(cudaStream_t stream, const LossProblem<T>& problem, BlockPartial* partials);

/// Adds a batch to the totals.
void add_to_totals(cudaStream_t stream, const TotalsProblem& problem);

/// Whether the two below support layers of this many inputs and outputs: few outputs, and weights
/// that fit into shared memory.
template <typename T>
bool fits_output_layer(Index in, Index out);

/// Computes the layer's output, without storing it; the loss and the predictions, as partials; the
/// gradient of the output, `layer.doutput`; and, unless null, that of the input, `layer.dinput`.
/// @param partials has room for max_partials().
/// @return the number of partials.
/// @pre fits_output_layer(), loss.doutputs is layer.doutput, the input's rows are not selected, and
/// neither `product` nor `shares` is given.
template <typename T>
Index warp_per_row(cudaStream_t stream, const OutputLayerProblem<T>& problem,
                   BlockPartial* partials);

/// The largest number of shares of a batch of so many rows, or fewer.
Index max_shares(Index rows);

/// How long a share is: the gradient of the weights, transposed, [out, in], then that of the bias,
/// padded to a multiple of 8.
__host__ __device__ constexpr Index shares_length(Index in, Index out) {
  return ((in + 1) * out + 7) / 8 * 8;
}

/// Computes the same from the product, if that is given; and, if `shares` are wanted, the gradients
/// of weights and bias, as shares.
/// @param partials has room for max_partials().
/// @return the number of partials, and of shares.
/// @pre as that of warp_per_row(), but for product and shares.
template <typename T>
Index output_layer(cudaStream_t stream, const OutputLayerProblem<T>& problem,
                   BlockPartial* partials);

/// Adds up the shares, which gives the gradients of weights and bias, and adds the partials to the
/// totals.
template <typename T>
void add_shares(cudaStream_t stream, const SharesProblem<T>& problem);

}  // namespace stagewise::minibatch

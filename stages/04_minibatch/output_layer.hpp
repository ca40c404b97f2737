/// @file
/// The last layer, the loss and the backward pass through that layer in one kernel.
#pragma once

#include <cuda_runtime.h>

#include "04_minibatch/loss.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// A last layer and its loss.
template <typename T>
struct OutputLayerProblem {
  LinearBackwardProblem<T> layer;  ///< without activation, which the loss applies; see LossProblem
  LossProblem<T> loss;
};

/// Whether output_layer() supports layers of this many inputs and outputs: few outputs, and weights
/// that fit into shared memory.
template <typename T>
bool fits_output_layer(Index in, Index out);

/// Computes the layer's output, without storing it; the loss and the predictions, as partials; the
/// gradient of the output, `layer.doutput`; and, unless null, that of the input, `layer.dinput`.
/// Does not compute the gradients of weights and bias.
/// @param partials has room for max_partials().
/// @return the number of partials.
/// @pre fits_output_layer(), loss.doutputs is layer.doutput, and the input's rows are not selected.
template <typename T>
Index output_layer(cudaStream_t stream, const OutputLayerProblem<T>& problem,
                   BlockPartial* partials);

}  // namespace stagewise::minibatch

/// @file
/// The last layer, the loss and the way back through that layer as one kernel.
#pragma once

#include <cuda_runtime.h>

#include "04_minibatch/loss.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// A last layer and what comes behind it.
template <typename T>
struct OutputLayerProblem {
  LinearBackwardProblem<T> layer;  ///< its own activation left to the loss; see LossProblem
  LossProblem<T> loss;
};

/// Whether output_layer() is for layers of that many inputs and outputs: few outputs, and weights
/// that fit into shared memory.
template <typename T>
bool fits_output_layer(Index in, Index out);

/// Computes the layer's output, without storing it; the loss and the predictions, as partials; the
/// gradient of the output, `layer.doutput`; and, unless null, that of the input, `layer.dinput`.
/// The gradients of weights and bias are left to do.
/// @param partials room for max_partials().
/// @return how many there are.
/// @pre fits_output_layer(), loss.doutputs is layer.doutput, and the input's rows are not selected.
template <typename T>
Index output_layer(cudaStream_t stream, const OutputLayerProblem<T>& problem,
                   BlockPartial* partials);

}  // namespace stagewise::minibatch

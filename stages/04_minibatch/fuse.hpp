/// @file
/// Stage 04's rewrite of a program: fewer lines that do the same.
#pragma once

#include "network/program.hpp"

namespace stagewise::minibatch {

/// What is fused.
struct FuseOptions {
  bool layers = true;  ///< else the loss alone, and what the workers exchange

  /// Whether the products that read the batch pick its rows from the data set, if all of them can.
  bool gathers = true;
};

/// Replaces
///  - gemm, add_bias and an activation by `linear`,
///  - the last layer, the loss both ways and the prediction by `output_layer`, or all but the layer
///    by `loss` where that kernel cannot take it; then the totals by `add_partials`,
///  - a gradient's gemm and the way back through an activation by `linear_input_gradient`,
///  - the gradients of weight and bias, and their updates, by `linear_gradients`,
///  - convolution, add_bias, relu and pooling by `convolution_relu_pool`, backwards by
///    `pool_relu_backward`,
///  - the updates that are left, with the sums over workers, by `update_by_sum`, and what workers
///    average by `average_weights`: each one line for all parameters,
///  - gather by the loads of the lines that read the batch.
/// Sizes that a kernel cannot take are left as they are.
/// @tparam T whose size decides what fits into shared memory.
/// @param max_rows of the largest batch.
/// @throws Error if no GPU can be used.
template <typename T>
Program fuse(const Program& program, Index max_rows, const FuseOptions& options = {});

/// Lets lines be done side by side that can be: each worker has a lane, and one for what nothing
/// else in its step waits for, such as the gradients of parameters; what processes exchange has
/// one, too.
Program assign_lanes(const Program& program);

/// Takes the gathering out: the batch is there before the step. Copies of it become parts of it.
/// @param batch samples and labels of the whole batch.
Program without_gather(const Program& program, ValueId batch, ValueId batch_labels);

}  // namespace stagewise::minibatch

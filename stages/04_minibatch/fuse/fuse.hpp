/// @file
/// Stage 04's rewrite of a program: fewer lines that compute the same.
#pragma once

#include "network/program.hpp"

namespace stagewise::minibatch {

/// How much of the end of a step is one kernel; each does what the one before does.
enum class LastLayer {
  loss,          ///< the loss, from the outputs to their gradient
  warp_per_row,  ///< the last layer, too, and the gradient of its input
  shares,        ///< the gradients of its parameters, too
};

/// What is fused.
struct FuseOptions {
  bool layers = true;  ///< otherwise only the loss and the workers' exchanges
  LastLayer last_layer = LastLayer::shares;

  /// Whether the products that read the batch select its rows from the data set, if all of them
  /// can.
  bool gathers = true;
};

/// Replaces
///  - gemm, add_bias and an activation by `linear`,
///  - the last layer, the loss, its gradient and the prediction by `output_layer`, or, where that
///    kernel cannot take the layer, all but the layer by `loss`; then the totals by `add_partials`;
///    the layer's product stays a line of its own where an `all_reduce` adds it up over processes,
///  - the gemm of an input's gradient and the backward pass through an activation by
///    `linear_input_gradient`,
///  - the gradients of weight and bias, and their updates, by `linear_gradients`,
///  - convolution, add_bias, relu and pooling by `convolution_relu_pool`, and the backward pass of
///    relu and pooling by `pool_relu_backward`,
///  - the gradients and updates of the last layer, and the totals, by `output_layer` and the last
///    `linear_gradients`,
///  - the remaining updates, with the sums over workers, by `update_by_sum`, and the averaging of
///    workers' parameters by `average_weights`: each one line for all parameters,
///  - gather by loads in the lines that read the batch.
/// Lines whose sizes a kernel cannot take are left as they are.
/// @tparam T its size decides what fits into shared memory.
/// @param max_rows the rows of the largest batch.
/// @throws Error if no GPU can be used.
template <typename T>
Program fuse(const Program& program, Index max_rows, const FuseOptions& options = {});

/// Assigns lines to lanes, which run concurrently: one for each worker, one for work that nothing
/// else in its step waits for, such as the gradients of parameters, and one for exchanges between
/// processes.
Program assign_lanes(const Program& program);

/// Removes the gather, since the batch is there before the step. Copies of the batch become parts
/// of it.
/// @param batch the samples and labels of the whole batch.
Program without_gather(const Program& program, ValueId batch, ValueId batch_labels);

}  // namespace stagewise::minibatch

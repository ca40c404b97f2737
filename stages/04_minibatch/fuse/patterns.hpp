/// @file
/// The patterns of fuse(): lines that become one.
#pragma once

#include <optional>

#include "04_minibatch/fuse/fuse.hpp"
#include "network/problems.hpp"
#include "network/rewriter.hpp"

namespace stagewise::minibatch {

/// A program that is being fused into fewer lines.
struct Fusion {
  Rewriter rewriter;
  Index max_rows;  ///< of the largest batch that it will be executed with
  LastLayer last_layer = LastLayer::shares;

  /// A value of the program.
  const Value& value(ValueId id) const { return rewriter.program()[id]; }

  /// The only operation of a kind that reads a value; its line becomes a member. Null if there is
  /// no such line, or several.
  template <typename Op>
  const Op* take_reader(ValueId value, std::vector<std::size_t>& members) const {
    const auto line = rewriter.reader_of<Op>(value);
    if (!line) return nullptr;
    members.push_back(*line);
    return rewriter.get<Op>(*line);
  }

  /// How many samples a value has in the largest batch.
  Index rows_of(ValueId batched) const;

  /// Whether the index type of linear.hpp's kernels is large enough for a layer's sizes.
  bool fits(ValueId batched, ValueId weight) const;

  /// A convolution, with the largest batch.
  ConvolutionProblem convolution(ValueId input, ValueId filter) const {
    return ConvolutionProblem::of(rows_of(input), value(input).shape, value(filter).shape);
  }
};

/// @name The patterns. Each looks for the lines that belong to line `i`, replaces them if there is
/// a kernel for their sizes, and returns whether the program has changed.
/// @{

/// gemm, add_bias and an activation: `linear`.
bool fuse_linear(Fusion& fusion, std::size_t i);

/// The gradient of a layer's input, back through the activation that computed it:
/// `linear_input_gradient`.
bool fuse_linear_input_gradient(Fusion& fusion, std::size_t i);

/// The gradients of weight and bias, with their updates where the gradients are complete by then:
/// `linear_gradients`.
bool fuse_linear_gradients(Fusion& fusion, std::size_t i);

/// The last `linear`, its loss, prediction and the backward pass to its input: `output_layer`, and
/// `add_partials` for the totals.
/// @tparam T its size determines what fits into shared memory.
template <typename T>
bool fuse_output_layer(Fusion& fusion, std::size_t i);

/// The same for a layer whose product an `all_reduce` adds up over processes, and which stays a
/// line of its own.
template <typename T>
bool fuse_summed_output_layer(Fusion& fusion, std::size_t i);

/// The same without the layer: `loss` and `add_partials`.
bool fuse_loss(Fusion& fusion, std::size_t i);

/// convolution, add_bias, relu and average_pool: `convolution_relu_pool`.
bool fuse_convolution(Fusion& fusion, std::size_t i);

/// The backward pass of pooling and relu, with the gradient of the bias: `pool_relu_backward`.
bool fuse_pool_backward(Fusion& fusion, std::size_t i);

/// The gradients of the last layer's parameters: `output_layer` leaves them as shares, and the line
/// that ends the step adds them up, besides, and the partials.
bool fuse_shares(Fusion& fusion, std::size_t i);

/// Merges gather into the loads of the lines that read the batch, if all of them support it.
bool fuse_gather(Fusion& fusion, std::size_t i);

/// The updates of all parameters, with the sums over workers: `update_by_sum`.
void fuse_updates(Fusion& fusion);

/// The averaging of the workers' parameters: `average_weights`.
void fuse_averages(Fusion& fusion);

/// @}

/// An activation, or its gradient.
struct FoundActivation {
  std::size_t line;
  Activation activation;
  ValueId output;  ///< of the activation
  ValueId result;  ///< of the line
};

/// The activation that reads a value.
std::optional<FoundActivation> activation_of(const Rewriter& rewriter, ValueId sum);

/// The line that takes a gradient back through the activation.
std::optional<FoundActivation> activation_backward_of(const Rewriter& rewriter, ValueId doutput);

}  // namespace stagewise::minibatch

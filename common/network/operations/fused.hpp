/// @file
/// Fused operations: each replaces several lines of a program, which its line lists, and is
/// computed without storing what these lines pass to each other.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "network/value.hpp"

namespace stagewise {

/// output = activation(input weight + bias), with the input's rows selected by the order, if there
/// is one.
struct Linear {
  Reads<Real> input;
  Reads<std::uint32_t> order;
  Reads<Real> weight;
  Reads<Real> bias;
  Writes<Real> output;
  Activation activation = Activation::none;
  static constexpr auto name = "linear";
  static auto operands(auto& op) { return std::tie(op.input, op.order, op.weight, op.bias, op.output); }
  static constexpr bool is_fused = true;
};

/// dinput = doutput weight^T, times the derivative of the activation that computed the input.
struct LinearInputGradient {
  Reads<Real> doutput;
  Reads<Real> weight;
  Reads<Real> input;  ///< only if there is an activation
  Writes<Real> dinput;
  Activation input_activation = Activation::none;
  static constexpr auto name = "linear_input_gradient";
  static auto operands(auto& op) { return std::tie(op.doutput, op.weight, op.input, op.dinput); }
  static constexpr bool is_fused = true;
};

/// Adds up the shares of an OutputLayer's gradients, updates its weight and bias, and adds its
/// partials to an epoch's totals.
struct AddShares {
  Reads<Real> shares;
  Reads<BlockPartial> partials;
  Updates<Real> weight;
  Updates<Real> bias;
  Updates<Totals> totals;
  double learning_rate = 0;
  double l2 = 0;
  static constexpr auto name = "add_shares";
  static auto operands(auto& op) { return std::tie(op.shares, op.partials, op.weight, op.bias, op.totals); }
  static constexpr bool is_fused = true;
};

/// dweight = input^T doutput and dbias = the column sums of doutput: stored, or used immediately to
/// update weight and bias.
struct LinearGradients {
  Reads<Real> input;
  Reads<std::uint32_t> order;
  Reads<Real> doutput;
  Writes<Real> dweight;  ///< none if the weight is updated
  Writes<Real> dbias;
  Updates<Real> weight;  ///< none if the gradient is stored
  Updates<Real> bias;
  double learning_rate = 0;
  double l2 = 0;
  AddShares last = {};  ///< what is done besides; without operands: nothing
  static constexpr auto name = "linear_gradients";
  static auto operands(auto& op) {
    return std::tuple_cat(std::tie(op.input, op.order, op.doutput, op.dweight, op.dbias, op.weight, op.bias),
                          AddShares::operands(op.last));
  }
  static constexpr bool is_fused = true;
};

/// What a loss does with its outputs, forward and backward.
struct LossAttributes {
  LossKind loss = LossKind::cross_entropy;
  Activation activation = Activation::none;  ///< that computed the outputs
  std::optional<double> threshold = {};      ///< a single output means class 1 from this value on
};

/// A last layer, its loss, its prediction, and the backward pass through all of it. The gradients
/// of its parameters may be among it, as shares of many blocks, which AddShares adds up.
struct OutputLayer {
  Reads<Real> input;
  Reads<Real> weight;
  Reads<Real> bias;
  Reads<Real> product;  ///< input weight, if other lines compute it; none if this one does
  Reads<std::int32_t> labels;
  Reads<std::uint32_t> order;  ///< of the labels
  Writes<Real> doutput;        ///< before the activation; none if it is not needed
  Writes<Real> dinput;         ///< before the activation that computed the input
  Writes<Real> shares;         ///< none if other lines compute the gradients of the parameters
  Writes<BlockPartial> partials;
  LossAttributes at = {};
  Activation input_activation = Activation::none;
  bool warp_per_row = false;  ///< by the simpler kernel, without product and shares
  static constexpr auto name = "output_layer";
  static auto operands(auto& op) {
    return std::tie(op.input, op.weight, op.bias, op.product, op.labels, op.order, op.doutput, op.dinput, op.shares,
                    op.partials);
  }
  static constexpr bool is_fused = true;
};

/// A loss, its prediction, and its gradient.
struct Loss {
  Reads<Real> outputs;
  Reads<std::int32_t> labels;
  Reads<std::uint32_t> order;  ///< of the labels
  Writes<Real> doutputs;       ///< before the activation
  Writes<BlockPartial> partials;
  LossAttributes at = {};
  static constexpr auto name = "loss";
  static auto operands(auto& op) { return std::tie(op.outputs, op.labels, op.order, op.doutputs, op.partials); }
  static constexpr bool is_fused = true;
};

/// Adds the partials that either of these two has stored to an epoch's totals.
struct AddPartials {
  Reads<BlockPartial> partials;
  Updates<Totals> totals;
  static constexpr auto name = "add_partials";
  static auto operands(auto& op) { return std::tie(op.partials, op.totals); }
  static constexpr bool is_fused = true;
};

/// output = average_pool(relu(convolution(input, filter) + bias)).
struct ConvolutionReluPool {
  Reads<Real> input;
  Reads<Real> filter;
  Reads<Real> bias;
  Writes<Real> activated;  ///< output of the relu; none if it is not needed
  Writes<Real> output;
  Index window = 0;
  static constexpr auto name = "convolution_relu_pool";
  static auto operands(auto& op) { return std::tie(op.input, op.filter, op.bias, op.activated, op.output); }
  static constexpr bool is_fused = true;
};

/// From the gradient of the pooled output to those of the convolution's output and bias.
struct PoolReluBackward {
  Reads<Real> activated;
  Reads<Real> doutput;
  Writes<Real> dsum;
  Writes<Real> dbias;
  Index window = 0;
  static constexpr auto name = "pool_relu_backward";
  static auto operands(auto& op) { return std::tie(op.activated, op.doutput, op.dsum, op.dbias); }
  static constexpr bool is_fused = true;
};

/// Updates all parameters, each by the sum of its gradients: one, or one from each worker.
struct UpdateBySum {
  std::vector<Reads<Real>> gradients;  ///< the first parameter's, worker by worker, ...
  std::vector<Updates<Real>> parameters;
  double learning_rate = 0;
  double l2 = 0;  ///< of weights
  static constexpr auto name = "update_by_sum";
  static auto operands(auto& op) { return std::tie(op.gradients, op.parameters); }
  static constexpr bool is_fused = true;
};

/// A whole training step of a network with one hidden layer. A kernel takes any number of such
/// steps, one after another, and keeps the parameters meanwhile.
struct PersistentStep {
  Reads<Real> features;  ///< of the data set
  Reads<std::int32_t> labels;
  Reads<std::uint32_t> order;
  Updates<Real> hidden_weight;
  Updates<Real> hidden_bias;  ///< none: no bias
  Updates<Real> weight;       ///< of the last layer
  Updates<Real> bias;
  Updates<Totals> totals;
  LossAttributes at = {};
  Activation hidden_activation = Activation::none;
  double learning_rate = 0;
  double l2 = 0;
  static constexpr auto name = "persistent_step";
  static auto operands(auto& op) {
    return std::tie(op.features, op.labels, op.order, op.hidden_weight, op.hidden_bias, op.weight, op.bias, op.totals);
  }
  static constexpr bool is_fused = true;
};

/// The mean of all workers' parameters, and optionally a copy of it for each worker.
struct AverageWeights {
  std::vector<Updates<Real>> workers;  ///< the first parameter's, worker by worker, ...
  std::vector<Writes<Real>> means;
  bool is_taken_over = false;  ///< whether the workers get copies
  static constexpr auto name = "average_weights";
  static auto operands(auto& op) { return std::tie(op.workers, op.means); }
  static constexpr bool is_fused = true;
};

/// sum = [1 | input] [bias; weight]: a layer whose bias is a row of its weights.
struct FoldedLinear {
  Reads<Real> input;
  Reads<Real> weight;
  Reads<Real> bias;
  Writes<Real> sum;
  static constexpr auto name = "folded_linear";
  static auto operands(auto& op) { return std::tie(op.input, op.weight, op.bias, op.sum); }
  static constexpr bool is_fused = true;
};

/// The gradients of FoldedLinear: each a product with the bias folded in.
struct FoldedGradients {
  Reads<Real> input;
  Reads<Real> weight;
  Reads<Real> bias;
  Reads<Real> dsum;
  Writes<Real> dinput;  ///< none if it is not needed
  Writes<Real> dweight;
  Writes<Real> dbias;
  static constexpr auto name = "folded_gradients";
  static auto operands(auto& op) {
    return std::tie(op.input, op.weight, op.bias, op.dsum, op.dinput, op.dweight, op.dbias);
  }
  static constexpr bool is_fused = true;
};

/// Whether an operation replaces other operations.
template <typename Op>
concept Fused = requires {
  Op::is_fused;
};

}  // namespace stagewise

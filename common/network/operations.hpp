/// @file
/// The operations of a program: plain data that names values. They depend on no memory, precision
/// or stage.
///
/// Each operation says what its operands are: what it reads, writes, or updates in place. That is
/// all that dependencies, printing, allocation and the count of bytes need to know.
#pragma once

#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "network/value.hpp"

namespace stagewise {

/// An operand that is read. Without a value if it is optional and absent.
template <typename Kind>
struct Reads : ValueId {
  Reads(ValueId value = {}) : ValueId(value) {}  // NOLINT(*-explicit-*): an operand is a value
};

/// An operand that is written without being read.
template <typename Kind>
struct Writes : ValueId {
  Writes(ValueId value = {}) : ValueId(value) {}  // NOLINT(*-explicit-*)
};

/// An operand that is read and written.
template <typename Kind>
struct Updates : ValueId {
  Updates(ValueId value = {}) : ValueId(value) {}  // NOLINT(*-explicit-*)
};

/// @name The batch
/// @{

/// The samples of the next batch, in the epoch's order.
struct Gather {
  Reads<Real> features;        ///< [samples, ...]
  Reads<std::int32_t> labels;  ///< [samples]
  Reads<std::uint32_t> order;  ///< which of them are the batch
  Writes<Real> batch;
  Writes<std::int32_t> batch_labels;
  static constexpr auto name = "gather";
  static auto operands(auto& op) {
    return std::tie(op.features, op.labels, op.order, op.batch, op.batch_labels);
  }
};

/// @}
/// @name Matrices. A batched value is a matrix with one row per sample.
/// @{

/// c = op(a) op(b).
struct Gemm {
  Reads<Real> a;
  Reads<Real> b;
  Writes<Real> c;
  Transpose op_a = Transpose::no;
  Transpose op_b = Transpose::no;
  static constexpr auto name = "gemm";
  static auto operands(auto& op) { return std::tie(op.a, op.b, op.c); }
};

/// y[i, j] = x[i, j] + bias[j]; y may be in the memory of x.
struct AddBias {
  Reads<Real> x;
  Reads<Real> bias;
  Writes<Real> y;
  static constexpr auto name = "add_bias";
  static auto operands(auto& op) { return std::tie(op.x, op.bias, op.y); }
};

/// y[j] = the sum of column j of x: the gradient of a bias.
struct ColumnSums {
  Reads<Real> x;
  Writes<Real> y;
  static constexpr auto name = "column_sums";
  static auto operands(auto& op) { return std::tie(op.x, op.y); }
};

/// sum = the terms added up elementwise, the first one first.
struct Sum {
  std::vector<Reads<Real>> terms;
  Writes<Real> sum;
  static constexpr auto name = "sum";
  static auto operands(auto& op) { return std::tie(op.terms, op.sum); }
};

/// @}
/// @name Activations, elementwise; the result may be in the memory of the last operand read.
/// @{

/// y = max(x, 0); a NaN stays NaN.
struct Relu {
  Reads<Real> x;
  Writes<Real> y;
  static constexpr auto name = "relu";
  static auto operands(auto& op) { return std::tie(op.x, op.y); }
};

/// dx = dy where y > 0, else 0: relu'(0) = 0.
struct ReluBackward {
  Reads<Real> y;
  Reads<Real> dy;
  Writes<Real> dx;
  static constexpr auto name = "relu_backward";
  static auto operands(auto& op) { return std::tie(op.y, op.dy, op.dx); }
};

/// y = 1 / (1 + exp(-x)).
struct Sigmoid {
  Reads<Real> x;
  Writes<Real> y;
  static constexpr auto name = "sigmoid";
  static auto operands(auto& op) { return std::tie(op.x, op.y); }
};

/// dx = dy y (1 - y).
struct SigmoidBackward {
  Reads<Real> y;
  Reads<Real> dy;
  Writes<Real> dx;
  static constexpr auto name = "sigmoid_backward";
  static auto operands(auto& op) { return std::tie(op.y, op.dy, op.dx); }
};

/// @}
/// @name Losses and predictions
/// @{

/// For every row of the logits: probabilities = softmax(logits), row loss = -log of the label's
/// probability, computed so that it stays finite where that probability underflows.
struct SoftmaxCrossEntropy {
  Reads<Real> logits;
  Reads<std::int32_t> labels;
  Writes<Real> probabilities;
  Writes<Real> row_losses;
  static constexpr auto name = "softmax_cross_entropy";
  static auto operands(auto& op) {
    return std::tie(op.logits, op.labels, op.probabilities, op.row_losses);
  }
};

/// The gradient of the mean over the whole batch, of which the rows may be a part (see Part):
/// dlogits = (probabilities - onehot(labels)) / rows of the batch.
struct SoftmaxCrossEntropyBackward {
  Reads<Real> probabilities;
  Reads<std::int32_t> labels;
  Writes<Real> dlogits;
  static constexpr auto name = "softmax_cross_entropy_backward";
  static auto operands(auto& op) { return std::tie(op.probabilities, op.labels, op.dlogits); }
};

/// Row loss = the sum over the outputs of (target - output)^2. The target is 1 in the label's
/// column and 0 elsewhere; of a single output, it is the label itself, as a number.
struct SquaredError {
  Reads<Real> outputs;
  Reads<std::int32_t> labels;
  Writes<Real> row_losses;
  static constexpr auto name = "squared_error";
  static auto operands(auto& op) { return std::tie(op.outputs, op.labels, op.row_losses); }
};

/// The gradient of the mean over the whole batch: doutputs = 2 (outputs - target) / its rows.
struct SquaredErrorBackward {
  Reads<Real> outputs;
  Reads<std::int32_t> labels;
  Writes<Real> doutputs;
  static constexpr auto name = "squared_error_backward";
  static auto operands(auto& op) { return std::tie(op.outputs, op.labels, op.doutputs); }
};

/// classes[i] = the column of the largest element of row i; the lowest column wins ties.
struct ArgMax {
  Reads<Real> outputs;
  Writes<std::int32_t> classes;
  static constexpr auto name = "argmax";
  static auto operands(auto& op) { return std::tie(op.outputs, op.classes); }
};

/// classes[i] = 1 where the only output is at least `threshold`, else 0.
struct Threshold {
  Reads<Real> outputs;
  Writes<std::int32_t> classes;
  double threshold = 0;
  static constexpr auto name = "threshold";
  static auto operands(auto& op) { return std::tie(op.outputs, op.classes); }
};

/// Adds a batch to an epoch's totals: the losses in a fixed order, into a double; the rows whose
/// class is their label; and the step, if the batch's loss is the first that is not finite.
struct Accumulate {
  Reads<Real> row_losses;
  Reads<std::int32_t> classes;
  Reads<std::int32_t> labels;
  Updates<Totals> totals;
  static constexpr auto name = "accumulate";
  static auto operands(auto& op) {
    return std::tie(op.row_losses, op.classes, op.labels, op.totals);
  }
};

/// @}
/// @name Images
/// @{

/// A 'valid' convolution of stride 1.
struct Convolution {
  Reads<Real> input;
  Reads<Real> filter;
  Writes<Real> output;
  static constexpr auto name = "convolution";
  static auto operands(auto& op) { return std::tie(op.input, op.filter, op.output); }
};

/// Its gradients; that of the input only where needed.
struct ConvolutionBackward {
  Reads<Real> input;
  Reads<Real> filter;
  Reads<Real> doutput;
  Writes<Real> dinput;
  Writes<Real> dfilter;
  static constexpr auto name = "convolution_backward";
  static auto operands(auto& op) {
    return std::tie(op.input, op.filter, op.doutput, op.dinput, op.dfilter);
  }
};

/// The mean of every window of `window` x `window` pixels, windows side by side.
struct AveragePool {
  Reads<Real> input;
  Writes<Real> output;
  Index window = 0;
  static constexpr auto name = "average_pool";
  static auto operands(auto& op) { return std::tie(op.input, op.output); }
};

/// Its gradient: each pixel gets its share of its window's gradient.
struct AveragePoolBackward {
  Reads<Real> doutput;
  Writes<Real> dinput;
  Index window = 0;
  static constexpr auto name = "average_pool_backward";
  static auto operands(auto& op) { return std::tie(op.doutput, op.dinput); }
};

/// @}
/// @name Training, in one process and in several
/// @{

/// parameter -= learning_rate (gradient + l2 parameter).
struct SgdUpdate {
  Reads<Real> gradient;
  Updates<Real> parameter;
  double learning_rate = 0;
  double l2 = 0;
  static constexpr auto name = "sgd_update";
  static auto operands(auto& op) { return std::tie(op.gradient, op.parameter); }
};

/// mean = the terms added up elementwise, divided by their number.
struct Mean {
  std::vector<Reads<Real>> terms;
  Writes<Real> mean;
  static constexpr auto name = "mean";
  static auto operands(auto& op) { return std::tie(op.terms, op.mean); }
};

/// y = x.
struct Copy {
  Reads<Real> x;
  Writes<Real> y;
  static constexpr auto name = "copy";
  static auto operands(auto& op) { return std::tie(op.x, op.y); }
};

/// Every value becomes its sum, or its mean, over all processes. A bucket of several values is sent
/// in one message.
struct AllReduce {
  std::vector<Updates<Real>> values;
  bool divides = false;  ///< whether the sum is divided by the number of processes
  static constexpr auto name = "all_reduce";
  static auto operands(auto& op) { return std::tie(op.values); }
};

/// y = x, in the same memory; all processes have the same x, so the forward pass does nothing. In
/// the backward pass, each process has only its part of the gradient: the derivative is an
/// all_reduce.
struct Replicate {
  Reads<Real> x;
  Writes<Real> y;
  static constexpr auto name = "replicate";
  static auto operands(auto& op) { return std::tie(op.x, op.y); }
};

/// @}
/// @name Fused operations: each stands for several lines of a program, which its line lists.
/// @{

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
  static auto operands(auto& op) {
    return std::tie(op.input, op.order, op.weight, op.bias, op.output);
  }
  static constexpr bool is_fused = true;
};

/// dinput = doutput weight^T, times the derivative of the activation that computed the input.
struct LinearInputGradient {
  Reads<Real> doutput;
  Reads<Real> weight;
  Reads<Real> input;  ///< only where there is an activation
  Writes<Real> dinput;
  Activation input_activation = Activation::none;
  static constexpr auto name = "linear_input_gradient";
  static auto operands(auto& op) { return std::tie(op.doutput, op.weight, op.input, op.dinput); }
  static constexpr bool is_fused = true;
};

/// dweight = input^T doutput and dbias = the column sums of doutput: stored, or used immediately to
/// update weight and bias.
struct LinearGradients {
  Reads<Real> input;
  Reads<std::uint32_t> order;
  Reads<Real> doutput;
  Writes<Real> dweight;  ///< none where the weight is updated
  Writes<Real> dbias;
  Updates<Real> weight;  ///< none where the gradient is stored
  Updates<Real> bias;
  double learning_rate = 0;
  double l2 = 0;
  static constexpr auto name = "linear_gradients";
  static auto operands(auto& op) {
    return std::tie(op.input, op.order, op.doutput, op.dweight, op.dbias, op.weight, op.bias);
  }
  static constexpr bool is_fused = true;
};

/// What a loss does with its outputs, forward and backward.
struct LossAttributes {
  LossKind loss = LossKind::cross_entropy;
  Activation activation = Activation::none;  ///< that computed the outputs
  std::optional<double> threshold = {};      ///< a single output means class 1 from this value on
};

/// A last layer, its loss, its prediction, and the backward pass through all of it.
struct OutputLayer {
  Reads<Real> input;
  Reads<Real> weight;
  Reads<Real> bias;
  Reads<std::int32_t> labels;
  Reads<std::uint32_t> order;  ///< of the labels
  Writes<Real> doutput;        ///< before the activation
  Writes<Real> dinput;         ///< before the activation that computed the input
  Writes<BlockPartial> partials;
  LossAttributes at = {};
  Activation input_activation = Activation::none;
  static constexpr auto name = "output_layer";
  static auto operands(auto& op) {
    return std::tie(op.input, op.weight, op.bias, op.labels, op.order, op.doutput, op.dinput,
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
  static auto operands(auto& op) {
    return std::tie(op.outputs, op.labels, op.order, op.doutputs, op.partials);
  }
  static constexpr bool is_fused = true;
};

/// Adds the partials that one of these two has left to an epoch's totals.
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
  Writes<Real> activated;  ///< output of the relu; none where it is not needed
  Writes<Real> output;
  Index window = 0;
  static constexpr auto name = "convolution_relu_pool";
  static auto operands(auto& op) {
    return std::tie(op.input, op.filter, op.bias, op.activated, op.output);
  }
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
  Writes<Real> dinput;  ///< none where it is not needed
  Writes<Real> dweight;
  Writes<Real> dbias;
  static constexpr auto name = "folded_gradients";
  static auto operands(auto& op) {
    return std::tie(op.input, op.weight, op.bias, op.dsum, op.dinput, op.dweight, op.dbias);
  }
  static constexpr bool is_fused = true;
};

/// @}

using Operation =
    std::variant<Gather, Gemm, AddBias, ColumnSums, Sum, Relu, ReluBackward, Sigmoid,
                 SigmoidBackward, SoftmaxCrossEntropy, SoftmaxCrossEntropyBackward, SquaredError,
                 SquaredErrorBackward, ArgMax, Threshold, Accumulate, Convolution,
                 ConvolutionBackward, AveragePool, AveragePoolBackward, SgdUpdate, Mean, Copy,
                 AllReduce, Replicate, Linear, LinearInputGradient, LinearGradients, OutputLayer,
                 Loss, AddPartials, ConvolutionReluPool, PoolReluBackward, UpdateBySum,
                 AverageWeights, FoldedLinear, FoldedGradients>;

/// Whether an operation stands for other operations.
template <typename Op>
concept Fused = requires {
  Op::is_fused;
};

}  // namespace stagewise

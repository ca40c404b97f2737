/// @file
/// The operations of which a model, its derivatives and the update consist. Every stage computes
/// each of them.
#pragma once

#include <tuple>
#include <vector>

#include "network/activations.hpp"
#include "network/value.hpp"

namespace stagewise {

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
  static auto operands(auto& op) { return std::tie(op.features, op.labels, op.order, op.batch, op.batch_labels); }
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

/// y = activation(x).
template <Activation activation>
struct Activate {
  Reads<Real> x;
  Writes<Real> y;
  static constexpr auto name = names_of(activation).name;
  static auto operands(auto& op) { return std::tie(op.x, op.y); }
};

/// dx = dy activation'(x), which can be told from y.
template <Activation activation>
struct ActivateBackward {
  Reads<Real> y;
  Reads<Real> dy;
  Writes<Real> dx;
  static constexpr auto name = names_of(activation).backward;
  static auto operands(auto& op) { return std::tie(op.y, op.dy, op.dx); }
};

/// y = max(x, 0); a NaN stays NaN. relu'(0) = 0.
using Relu = Activate<Activation::relu>;
using ReluBackward = ActivateBackward<Activation::relu>;

/// y = 1 / (1 + exp(-x)).
using Sigmoid = Activate<Activation::sigmoid>;
using SigmoidBackward = ActivateBackward<Activation::sigmoid>;

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
  static auto operands(auto& op) { return std::tie(op.logits, op.labels, op.probabilities, op.row_losses); }
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
  static auto operands(auto& op) { return std::tie(op.row_losses, op.classes, op.labels, op.totals); }
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

/// Its gradients; that of the input only if needed.
struct ConvolutionBackward {
  Reads<Real> input;
  Reads<Real> filter;
  Reads<Real> doutput;
  Writes<Real> dinput;
  Writes<Real> dfilter;
  static constexpr auto name = "convolution_backward";
  static auto operands(auto& op) { return std::tie(op.input, op.filter, op.doutput, op.dinput, op.dfilter); }
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
/// @name Training
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

/// velocity = momentum velocity + (gradient + l2 parameter); parameter -= rate velocity, with the
/// rate of this step. Without a velocity, momentum counts as 0.
struct MomentumUpdate {
  Reads<Real> gradient;
  Reads<StepRates> rates;
  Updates<Real> velocity;
  Updates<Real> parameter;
  double momentum = 0;
  double l2 = 0;
  static constexpr auto name = "momentum_update";
  static auto operands(auto& op) { return std::tie(op.gradient, op.rates, op.velocity, op.parameter); }
};

/// With g = gradient + l2 parameter, the moments become the moving averages of g and g^2:
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2. Then
/// parameter -= rate m / (sqrt(v) / correction + epsilon), with the rates of this step.
struct AdamUpdate {
  Reads<Real> gradient;
  Reads<StepRates> rates;
  Updates<Real> first_moment;
  Updates<Real> second_moment;
  Updates<Real> parameter;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double l2 = 0;
  static constexpr auto name = "adam_update";
  static auto operands(auto& op) {
    return std::tie(op.gradient, op.rates, op.first_moment, op.second_moment, op.parameter);
  }
};

/// @}

}  // namespace stagewise

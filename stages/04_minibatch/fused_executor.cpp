#include "04_minibatch/fused_executor.hpp"

#include <utility>
#include <vector>

#include "04_minibatch/convolution/convolution.hpp"
#include "04_minibatch/linear/linear.hpp"
#include "04_minibatch/output_layer/output_layer.hpp"
#include "cuda/check.hpp"

namespace stagewise {
template <typename T>
FusedExecutor<T>::FusedExecutor() : one_(copied(std::vector<T>{1, 0, 0, 0})) {}

template <typename T>
void FusedExecutor<T>::prepare(const Program& program) {
  SharedMemoryExecutor<T>::prepare(program);
  const Line* before = nullptr;
  for (const Line& line : program.lines) {
    const Line* const previous = std::exchange(before, &line);
    if (const auto* const last = std::get_if<OutputLayer>(&line.operation)) {
      partial_counts_[last->partials] = 0;
      set_to_zero(last->shares);  // whose padding is read, but never written
      const bool follows = previous != nullptr && previous->lane == line.lane &&
                           std::holds_alternative<Linear>(previous->operation);
      behind_linear_[last->partials] = follows;
    } else if (const auto* const loss = std::get_if<Loss>(&line.operation)) {
      partial_counts_[loss->partials] = 0;
    }
  }
}

template <typename T>
void FusedExecutor<T>::set_to_zero(const Writes<Real>& gradient) {
  if (!gradient) return;
  CUDA_CHECK(cudaMemsetAsync(this->at(gradient), 0,
                             static_cast<std::size_t>(this->elements(gradient)) * sizeof(T),
                             this->stream()));
}

// ----------------------------------------------------------------------------------------- layers

template <typename T>
LinearProblem<T> FusedExecutor<T>::layer_of(ValueId batched, const Reads<Real>& input,
                                            ValueId weight) {
  const Shape& shape = this->value(weight).shape;
  return {.rows = this->shard(batched).rows,
          .in = shape[0],
          .out = shape[1],
          .input = this->at(input),
          .weight = this->template data<T>(weight)};
}

template <typename T>
void FusedExecutor<T>::run(const Linear& op) {
  LinearProblem<T> layer = layer_of(op.output, op.input, op.weight);
  if (layer.rows == 0) return;
  layer.order = this->at(op.order);
  layer.bias = this->at(op.bias);
  layer.activation = op.activation;
  layer.output = this->at(op.output);
  minibatch::linear(this->stream(), layer, this->workspace(), input_is_independent(op));
}

template <typename T>
void FusedExecutor<T>::run(const LinearInputGradient& op) {
  const LinearProblem<T> layer = layer_of(op.dinput, op.input, op.weight);
  if (layer.rows == 0) return;
  minibatch::input_gradient<T>(this->stream(),
                               {.forward = layer,
                                .doutput = this->template data<T>(op.doutput),
                                .dinput = this->at(op.dinput),
                                .input_activation = op.input_activation},
                               this->workspace());
}

template <typename T>
GradientTarget<T> FusedExecutor<T>::target_of(T* gradient, T* parameter, double learning_rate,
                                              double l2) {
  return {.gradient = gradient != nullptr ? gradient : parameter,
          .parameter = parameter,
          .learning_rate = static_cast<T>(learning_rate),
          .l2 = static_cast<T>(l2)};
}

template <typename T>
void FusedExecutor<T>::run(const LinearGradients& op) {
  LinearBackwardProblem<T> problem;
  LinearProblem<T>& layer = problem.forward;
  layer = layer_of(op.doutput, op.input, op.weight ? ValueId(op.weight) : ValueId(op.dweight));
  if (layer.rows == 0) {  // of a worker that has nothing to do
    set_to_zero(op.dweight);
    set_to_zero(op.dbias);
    return;
  }
  layer.input_stride = this->value(op.input).shape.elements();
  layer.order = this->at(op.order);
  problem.doutput = this->template data<T>(op.doutput);
  problem.weight = target_of(this->at(op.dweight), this->at(op.weight), op.learning_rate, op.l2);
  problem.bias = target_of(this->at(op.dbias), this->at(op.bias), op.learning_rate, 0);
  minibatch::parameter_gradients(this->stream(), problem, one_.data(), this->workspace(),
                                 input_is_independent(op), shares_problem(op.last));
}

template <typename T>
template <typename Op>
minibatch::LossProblem<T> FusedExecutor<T>::loss_problem(const Op& op, Index classes) {
  return {.rows = this->shard(op.partials).rows,
          .batch_rows = this->batch_rows(op.partials),
          .classes = classes,
          .loss = op.at.loss,
          .has_threshold = op.at.threshold.has_value(),
          .threshold = static_cast<T>(op.at.threshold.value_or(0)),
          .activation = op.at.activation,
          .labels = this->at(op.labels),
          .order = this->at(op.order)};
}

template <typename T>
void FusedExecutor<T>::run(const OutputLayer& op) {
  minibatch::OutputLayerProblem<T> problem;
  problem.layer = {.forward = layer_of(op.partials, op.input, op.weight),
                   .doutput = this->at(op.doutput),
                   .dinput = this->at(op.dinput),
                   .input_activation = op.input_activation};
  problem.layer.forward.bias = this->at(op.bias);
  problem.loss = loss_problem(op, problem.layer.forward.out);
  problem.product = this->at(op.product);
  problem.shares = this->at(op.shares);
  problem.weight_is_independent = behind_linear_.at(op.partials);
  const auto run = op.warp_per_row ? minibatch::warp_per_row<T> : minibatch::output_layer<T>;
  partial_counts_[op.partials] = run(this->stream(), problem, this->at(op.partials));
}

template <typename T>
void FusedExecutor<T>::run(const Loss& op) {
  minibatch::LossProblem<T> problem = loss_problem(op, this->columns(op.doutputs));
  problem.outputs = this->at(op.outputs);
  problem.doutputs = this->at(op.doutputs);
  partial_counts_[op.partials] = minibatch::loss(this->stream(), problem, this->at(op.partials));
}

template <typename T>
minibatch::TotalsProblem FusedExecutor<T>::totals_problem(const Reads<BlockPartial>& partials,
                                                          const Updates<Totals>& totals) {
  return {.partials = this->at(partials),
          .count = partial_counts_.at(partials),
          .totals = this->at(totals),
          .steps_before = steps_before_,
          .step = this->batch().step};
}

template <typename T>
void FusedExecutor<T>::run(const AddPartials& op) {
  minibatch::add_to_totals(this->stream(), totals_problem(op.partials, op.totals));
}

template <typename T>
minibatch::SharesProblem<T> FusedExecutor<T>::shares_problem(const AddShares& op) {
  if (!op.shares) return {};
  const Shape& weight = this->value(op.weight).shape;
  return {.shares = this->at(op.shares),
          .count = partial_counts_.at(op.partials),
          .in = weight[0],
          .out = weight[1],
          .weight = target_of(nullptr, this->at(op.weight), op.learning_rate, op.l2),
          .bias = target_of(nullptr, this->at(op.bias), op.learning_rate, 0),
          .totals = totals_problem(op.partials, op.totals)};
}

template <typename T>
void FusedExecutor<T>::run(const AddShares& op) {
  if (this->shard(op.partials).rows == 0) return;  // a worker that has nothing to do
  minibatch::add_shares(this->stream(), shares_problem(op));
}

// ----------------------------------------------------------------------------------------- images

template <typename T>
ConvolutionReluPoolProblem<T> FusedExecutor<T>::problem_of(const ConvolutionReluPool& op) {
  return {.convolution = this->problem(op.input, op.filter),
          .window = op.window,
          .input = this->at(op.input),
          .filter = this->at(op.filter),
          .bias = this->at(op.bias),
          .activated = this->at(op.activated),
          .output = this->at(op.output)};
}

template <typename T>
void FusedExecutor<T>::run(const ConvolutionReluPool& op) {
  if (this->shard(op.output).rows == 0) return;
  minibatch::convolution_relu_pool(this->stream(), problem_of(op), this->workspace());
}

template <typename T>
void FusedExecutor<T>::run(const PoolReluBackward& op) {
  if (this->shard(op.dsum).rows == 0) return set_to_zero(op.dbias);
  minibatch::pool_relu_backward(this->stream(), this->pooling(op.dsum, op.window),
                                this->at(op.activated), this->at(op.doutput), this->at(op.dsum),
                                this->at(op.dbias), this->workspace());
}

template class FusedExecutor<float>;
template class FusedExecutor<double>;

}  // namespace stagewise

#include "04_minibatch/minibatch_executor.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "04_minibatch/convolution.hpp"
#include "04_minibatch/gather.hpp"
#include "04_minibatch/linear.hpp"
#include "04_minibatch/output_layer.hpp"
#include "cuda/check.hpp"

namespace stagewise {
namespace {

/// A vector of 16 bytes.
template <typename T>
constexpr std::array<T, 16 / sizeof(T)> one_and_zeros = {1};

template <typename T>
void set_to_zero(cudaStream_t stream, T* values, Index n) {
  if (values == nullptr) return;
  CUDA_CHECK(cudaMemsetAsync(values, 0, static_cast<std::size_t>(n) * sizeof(T), stream));
}

}  // namespace

template <typename T>
MinibatchExecutor<T>::MinibatchExecutor()
    : one_({std::ssize(one_and_zeros<T>)}, this->memory()), no_steps_({1}, this->memory()) {
  const std::int64_t zero = 0;
  this->copy_in(one_.data(), one_and_zeros<T>.data(), sizeof(one_and_zeros<T>));
  this->copy_in(no_steps_.data(), &zero, sizeof(zero));
  steps_before_ = no_steps_.data();
}

// ------------------------------------------------------------------------------------------ lanes

template <typename T>
const cuda::Stream& MinibatchExecutor<T>::lane_stream() const {
  return lane_ == 0 ? this->main_stream() : lanes_[static_cast<std::size_t>(lane_) - 1]->stream;
}

template <typename T>
typename SharedMemoryExecutor<T>::Scratch& MinibatchExecutor<T>::scratch() {
  return lane_ == 0 ? SharedMemoryExecutor<T>::scratch()
                    : *lanes_[static_cast<std::size_t>(lane_) - 1]->scratch;
}

//! [execute]
template <typename T>
void MinibatchExecutor<T>::execute(const Program& program, const Batch& batch) {
  if (this->measures()) return SharedMemoryExecutor<T>::execute(program, batch);
  this->begin(batch);
  program_ = &program;
  std::size_t lanes = 0;
  for (const Line& line : program.lines) {
    lanes = std::max(lanes, static_cast<std::size_t>(line.lane));
  }
  if (lanes > 0) begun_.record(this->main_stream());
  for (std::size_t i = 0; i < lanes; ++i) begun_.make_wait(lanes_[i]->stream);
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    const Line& line = program.lines[i];
    select_lane(line.lane);
    line_number_ = i;
    for (const std::size_t before : line.waits_for) {
      settle(before);
      events_[before].make_wait(lane_stream());
    }
    run(line);
    if (line.is_awaited) mark_end(i);
  }
  for (std::size_t i = 0; i < program.lines.size(); ++i) settle(i);
  select_lane(0);
  for (std::size_t i = 0; i < lanes; ++i) {
    lanes_[i]->end.record(lanes_[i]->stream);
    lanes_[i]->end.make_wait(this->main_stream());
  }
}
//! [execute]

template <typename T>
void MinibatchExecutor<T>::mark_end(std::size_t line) {
  const int lane = program_->lines[line].lane;
  events_[line].record(lane == 0 ? this->main_stream()
                                 : lanes_[static_cast<std::size_t>(lane) - 1]->stream);
}

template <typename T>
void MinibatchExecutor<T>::prepare(const Program& program) {
  for (const Line& line : program.lines) {
    while (lanes_.size() < static_cast<std::size_t>(line.lane)) {
      lanes_.push_back(std::make_unique<Lane>());
    }
    const bool needs_none = std::holds_alternative<AllReduce>(line.operation) ||
                            std::holds_alternative<AddPartials>(line.operation);
    if (line.lane == 0 || needs_none) continue;
    auto& scratch = lanes_[static_cast<std::size_t>(line.lane) - 1]->scratch;
    if (scratch == nullptr) {
      scratch = std::make_unique<typename SharedMemoryExecutor<T>::Scratch>();
    }
  }
  while (events_.size() < program.lines.size()) events_.emplace_back();
  SharedMemoryExecutor<T>::prepare(program);
  for (const Line& line : program.lines) {
    if (const auto* const last = std::get_if<OutputLayer>(&line.operation)) {
      partial_counts_[last->partials] = 0;
    } else if (const auto* const loss = std::get_if<Loss>(&line.operation)) {
      partial_counts_[loss->partials] = 0;
    } else if (const auto* const update = std::get_if<UpdateBySum>(&line.operation)) {
      make_table(update->parameters.front(), update->gradients,
                 {update->parameters.begin(), update->parameters.end()}, update->l2, true);
    } else if (const auto* const average = std::get_if<AverageWeights>(&line.operation)) {
      make_table(average->means.front(), average->workers,
                 {average->means.begin(), average->means.end()}, 0, false);
    }
  }
}

// ---------------------------------------------------------------------------------------- batches

template <typename T>
void MinibatchExecutor<T>::read_from(const Dataset& dataset, std::span<const std::uint32_t> order) {
  SharedMemoryExecutor<T>::read_from(dataset, order);
  is_resident_ = false;
}

template <typename T>
void MinibatchExecutor<T>::stream_batches(const Shape& sample) {
  if (streamed_ != nullptr) return;
  streamed_ = std::make_unique<minibatch::StreamedBatches<T>>(sample, this->max_rows(),
                                                              this->main_stream());
}

template <typename T>
void MinibatchExecutor<T>::use_place(ValueId batch, ValueId batch_labels, int place) {
  this->bind(batch, streamed_->features(place));
  this->bind(batch_labels, streamed_->labels(place));
}

//! [gather]
template <typename T>
void MinibatchExecutor<T>::run(const Gather& op) {
  if (!is_resident_) {
    if (lane() != 0) throw std::logic_error("only lane 0 waits for streamed batches");
    use_place(op.batch, op.batch_labels,
              streamed_->bring(*this->dataset(), this->samples(op.batch)));
    return;
  }
  if (this->shard(op.batch).rows == 0) return;
  minibatch::gather(this->stream(), this->at(op.features), this->at(op.labels),
                    this->value(op.features).shape.elements(), this->at(op.order),
                    this->shard(op.batch).rows, this->at(op.batch), this->at(op.batch_labels));
}
//! [gather]

template <typename T>
Selection MinibatchExecutor<T>::selection(ValueId order) {
  return {order ? this->template data<std::uint32_t>(order) : nullptr};
}

// ----------------------------------------------------------------------------------------- layers

//! [linear]
template <typename T>
void MinibatchExecutor<T>::run(const Linear& op) {
  const Index rows = this->shard(op.output).rows;
  if (rows == 0) return;
  minibatch::linear<T>(this->stream(),
                       {.rows = rows,
                        .in = this->value(op.weight).shape[0],
                        .out = this->value(op.weight).shape[1],
                        .input = this->at(op.input),
                        .selection = selection(op.order),
                        .weight = this->at(op.weight),
                        .bias = this->at(op.bias),
                        .activation = op.activation,
                        .output = this->at(op.output)},
                       this->workspace());
}
//! [linear]

template <typename T>
void MinibatchExecutor<T>::run(const LinearInputGradient& op) {
  const Index rows = this->shard(op.dinput).rows;
  if (rows == 0) return;
  minibatch::input_gradient<T>(this->stream(),
                               {.forward = {.rows = rows,
                                            .in = this->value(op.weight).shape[0],
                                            .out = this->value(op.weight).shape[1],
                                            .input = this->at(op.input),
                                            .weight = this->at(op.weight)},
                                .doutput = this->template data<T>(op.doutput),
                                .dinput = this->at(op.dinput),
                                .input_activation = op.input_activation},
                               this->workspace());
}

//! [linear_gradients]
template <typename T>
void MinibatchExecutor<T>::run(const LinearGradients& op) {
  const ValueId weight = op.weight ? ValueId(op.weight) : ValueId(op.dweight);
  const ValueId bias = op.bias ? ValueId(op.bias) : ValueId(op.dbias);
  const Shape& shape = this->value(weight).shape;
  const Index rows = this->shard(op.doutput).rows;
  if (rows == 0) {  // of a worker that has nothing to do
    set_to_zero(this->stream(), this->at(op.dweight), shape.elements());
    set_to_zero(this->stream(), this->at(op.dbias), shape[1]);
    return;
  }
  const auto target = [&](T* gradient, T* parameter, double l2) {
    return GradientTarget<T>{.gradient = gradient != nullptr ? gradient : parameter,
                             .parameter = parameter,
                             .learning_rate = static_cast<T>(op.learning_rate),
                             .l2 = static_cast<T>(l2)};
  };
  LinearBackwardProblem<T> problem = {
      .forward = {.rows = rows,
                  .in = shape[0],
                  .out = shape[1],
                  .input = this->at(op.input),
                  .selection = selection(op.order)},
      .doutput = this->template data<T>(op.doutput),
      .weight = target(this->at(op.dweight), this->at(op.weight), op.l2)};
  if (bias) problem.bias = target(this->at(op.dbias), this->at(op.bias), 0);
  minibatch::parameter_gradients(this->stream(), problem, one_.data(), this->workspace());
}
//! [linear_gradients]

template <typename T>
minibatch::LossProblem<T> MinibatchExecutor<T>::loss_problem(const LossAttributes& at,
                                                             ValueId doutputs) {
  return {.rows = this->shard(doutputs).rows,
          .batch_rows = this->batch_rows(doutputs),
          .classes = this->columns(doutputs),
          .loss = at.loss,
          .has_threshold = at.threshold.has_value(),
          .threshold = static_cast<T>(at.threshold.value_or(0)),
          .activation = at.activation,
          .doutputs = this->template data<T>(doutputs)};
}

//! [output_layer]
template <typename T>
void MinibatchExecutor<T>::run(const OutputLayer& op) {
  const Shape& weight = this->value(op.weight).shape;
  minibatch::OutputLayerProblem<T> problem;
  problem.loss = loss_problem(op.at, op.doutput);
  problem.loss.labels = this->at(op.labels);
  problem.loss.selection = selection(op.order);
  problem.layer = {.forward = {.rows = problem.loss.rows,
                               .in = weight[0],
                               .out = weight[1],
                               .input = this->at(op.input),
                               .weight = this->at(op.weight),
                               .bias = this->at(op.bias)},
                   .doutput = this->at(op.doutput),
                   .dinput = this->at(op.dinput),
                   .input_activation = op.input_activation};
  partial_counts_[op.partials] =
      minibatch::output_layer(this->stream(), problem, this->at(op.partials));
}
//! [output_layer]

template <typename T>
void MinibatchExecutor<T>::run(const Loss& op) {
  minibatch::LossProblem<T> problem = loss_problem(op.at, op.doutputs);
  problem.outputs = this->at(op.outputs);
  problem.labels = this->at(op.labels);
  problem.selection = selection(op.order);
  partial_counts_[op.partials] = minibatch::loss(this->stream(), problem, this->at(op.partials));
}

template <typename T>
void MinibatchExecutor<T>::run(const AddPartials& op) {
  minibatch::add_to_totals(this->stream(), {.partials = this->at(op.partials),
                                            .count = partial_counts_.at(op.partials),
                                            .totals = this->at(op.totals),
                                            .steps_before = steps_before_,
                                            .step = this->batch().step});
}

// ----------------------------------------------------------------------------------------- images

template <typename T>
void MinibatchExecutor<T>::run(const ConvolutionReluPool& op) {
  if (this->shard(op.output).rows == 0) return;
  minibatch::convolution_relu_pool<T>(this->stream(),
                                      {.convolution = this->problem(op.input, op.filter),
                                       .window = op.window,
                                       .input = this->at(op.input),
                                       .filter = this->at(op.filter),
                                       .bias = this->at(op.bias),
                                       .activated = this->at(op.activated),
                                       .output = this->at(op.output)},
                                      this->workspace());
}

template <typename T>
void MinibatchExecutor<T>::run(const PoolReluBackward& op) {
  const Shape& shape = this->value(op.dsum).shape;
  if (this->shard(op.dsum).rows == 0) {
    set_to_zero(this->stream(), this->at(op.dbias), shape[2]);
    return;
  }
  minibatch::pool_relu_backward<T>(this->stream(),
                                   {.forward = {.convolution = {.batch = this->shard(op.dsum).rows,
                                                                .height = shape[0],
                                                                .width = shape[1],
                                                                .in = 1,
                                                                .filter_height = 1,
                                                                .filter_width = 1,
                                                                .out = shape[2]},
                                                .window = op.window,
                                                .activated = this->template data<T>(op.activated)},
                                    .doutput = this->at(op.doutput),
                                    .dactivated = this->at(op.dsum),
                                    .dbias = this->at(op.dbias)},
                                   this->workspace());
}

template <typename T>
void MinibatchExecutor<T>::run(const ConvolutionBackward& op) {
  if (this->shard(op.doutput).rows > 0) return SharedMemoryExecutor<T>::run(op);
  set_to_zero(this->stream(), this->at(op.dfilter), this->elements(op.dfilter));
}

// ---------------------------------------------------------------------------------------- workers

template <typename T>
template <typename Operands>
void MinibatchExecutor<T>::make_table(ValueId key, const Operands& parts,
                                      const std::vector<ValueId>& parameters, double l2,
                                      bool are_gradients) {
  std::vector<minibatch::MeanParameter<T>> mean;
  std::vector<minibatch::WorkersPart<T>> all;
  Index blocks = 0;
  for (const ValueId id : parameters) {
    const Index elements = this->value(id).shape.elements();
    mean.push_back({.value = this->template data<T>(id),
                    .elements = elements,
                    .first_block = blocks,
                    .l2 = this->value(id).role == Role::weight ? static_cast<T>(l2) : T{0}});
    blocks += minibatch::blocks_for(elements);
  }
  for (const ValueId id : parts) {
    T* const data = this->template data<T>(id);
    all.push_back(
        {.value = are_gradients ? nullptr : data, .gradient = are_gradients ? data : nullptr});
  }
  Table& table = tables_[key];
  table.mean = Tensor<minibatch::MeanParameter<T>>({std::ssize(mean)}, this->memory());
  table.parts = Tensor<minibatch::WorkersPart<T>>({std::ssize(all)}, this->memory());
  this->copy_in(table.mean.data(), mean.data(), mean.size() * sizeof(mean.front()));
  this->copy_in(table.parts.data(), all.data(), all.size() * sizeof(all.front()));
  table.lists = {.workers = static_cast<int>(all.size() / mean.size()),
                 .parameters = static_cast<int>(mean.size()),
                 .blocks = blocks,
                 .mean = table.mean.data(),
                 .parts = table.parts.data()};
}

template <typename T>
void MinibatchExecutor<T>::run(const UpdateBySum& op) {
  if (this->batch().rows == 0) return;
  minibatch::update_by_sum(this->stream(), tables_.at(op.parameters.front()).lists,
                           static_cast<T>(op.learning_rate));
}

template <typename T>
void MinibatchExecutor<T>::run(const AverageWeights& op) {
  minibatch::average_weights(this->stream(), tables_.at(op.means.front()).lists, op.is_taken_over);
}

template class MinibatchExecutor<float>;
template class MinibatchExecutor<double>;

}  // namespace stagewise

#include "ladders/persistent/training/persistent_training.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "network/rewriter.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise::minibatch::persistent {
namespace {

template <typename Op, typename... Kinds>
constexpr bool is_one_of = (std::is_same_v<Op, Kinds> || ...);

/// Adds to the step what a line says, if a step of such a network has lines of this kind. Lines
/// come in their order: those of the hidden layer, those of the last one, and the way back.
template <typename Op>
bool take(const Op& op, PersistentStep& step) {
  const bool is_of_last = static_cast<bool>(step.weight);
  if constexpr (std::is_same_v<Op, Gather>) {
    step.features = op.features;
    step.labels = op.labels;
    step.order = op.order;
  } else if constexpr (std::is_same_v<Op, Gemm>) {
    if (!step.hidden_weight) {
      step.hidden_weight = op.b;
    } else if (!is_of_last) {
      step.weight = op.b;
    }
  } else if constexpr (std::is_same_v<Op, AddBias>) {
    (is_of_last ? step.bias : step.hidden_bias) = op.bias;
  } else if constexpr (is_one_of<Op, Relu, Sigmoid>) {
    (is_of_last ? step.at.activation : step.hidden_activation) =
        std::is_same_v<Op, Relu> ? Activation::relu : Activation::sigmoid;
  } else if constexpr (std::is_same_v<Op, SquaredError>) {
    step.at.loss = LossKind::squared_error;
  } else if constexpr (std::is_same_v<Op, Threshold>) {
    step.at.threshold = op.threshold;
  } else if constexpr (std::is_same_v<Op, Accumulate>) {
    step.totals = op.totals;
  } else if constexpr (std::is_same_v<Op, SgdUpdate>) {
    step.learning_rate = op.learning_rate;
    step.l2 = std::max(step.l2, op.l2);
  }
  return is_one_of<Op, Gather, Gemm, AddBias, ColumnSums, Relu, ReluBackward, Sigmoid, SigmoidBackward,
                   SoftmaxCrossEntropy, SoftmaxCrossEntropyBackward, SquaredError, SquaredErrorBackward, ArgMax,
                   Threshold, Accumulate, SgdUpdate>;
}

/// How many lines of a kind there are.
template <typename Op>
std::ptrdiff_t count(const Program& program) {
  return std::ranges::count_if(program.lines,
                               [](const Line& line) { return std::holds_alternative<Op>(line.operation); });
}

/// All of the program as one line, if it is a step of a network with one hidden layer and of
/// nothing else: two products forward and three backward, and an update of each parameter.
std::optional<PersistentStep> whole_step(const Program& program) {
  PersistentStep step;
  const bool has_only_these = std::ranges::all_of(program.lines, [&](const Line& line) {
    return std::visit([&](const auto& op) { return take(op, step); }, line.operation);
  });
  const int biases = (step.hidden_bias ? 1 : 0) + (step.bias ? 1 : 0);
  const bool is_whole = has_only_these && count<Gather>(program) == 1 && count<Accumulate>(program) == 1 &&
                        count<Gemm>(program) == 5 && count<ColumnSums>(program) == biases &&
                        count<SgdUpdate>(program) == 2 + biases && program[step.order].part.count <= 1;
  return is_whole ? std::optional(step) : std::nullopt;
}

std::string text_of(const MlpShape& shape) {
  return std::to_string(shape.in) + "-" + std::to_string(shape.hidden) + "-" + std::to_string(shape.out);
}

}  // namespace

//! [persistent_step]
template <typename T>
std::optional<Program> as_persistent_step(const Program& program, Index max_rows, Choice choice) {
  // Where the CPU plays the GPU, a launch costs nothing, and a block that waits keeps others away.
  const bool is_slower = choice == Choice::automatic && cuda::runs_on_cpu();
  if (choice == Choice::never || is_slower) return std::nullopt;
  const auto step = whole_step(program);
  if (!step) return std::nullopt;
  const MlpShape shape = {.in = program[step->hidden_weight].shape[0],
                          .hidden = program[step->hidden_weight].shape[1],
                          .out = program[step->weight].shape[1],
                          .rows = max_rows};
  const auto plan = plan_blocks<T>(shape);
  if (!plan && choice == Choice::always) {
    throw Error("no persistent kernel for " + text_of(shape) + " and batches of " + count_of(shape.rows, "sample") +
                " fits onto this GPU");
  }
  if (!plan || (choice == Choice::automatic && !is_faster(*plan, shape))) return std::nullopt;
  Rewriter rewriter(program);
  std::vector<std::size_t> members(rewriter.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  rewriter.fuse(members, *step);
  return rewriter.finish();
}
//! [persistent_step]

template std::optional<Program> as_persistent_step<float>(const Program&, Index, Choice);
template std::optional<Program> as_persistent_step<double>(const Program&, Index, Choice);

}  // namespace stagewise::minibatch::persistent

namespace stagewise {
namespace {

/// The first launch has so many steps: while the device is busy with them, the host asks for the
/// others.
constexpr Index first_steps = 32;

}  // namespace

template <typename T>
void PersistentExecutor<T>::prepare(const Program& program) {
  MinibatchExecutor<T>::prepare(program);
  for (const Line& line : program.lines) {
    const auto* const step = std::get_if<PersistentStep>(&line.operation);
    if (step == nullptr) continue;
    minibatch::persistent::MlpShape shape = shape_of(*step);
    shape.rows = this->max_rows();
    // The rewrite has found one, too.
    trainer_.emplace(plan_ ? *plan_ : minibatch::persistent::plan_blocks<T>(shape).value());
  }
}

template <typename T>
minibatch::persistent::MlpShape PersistentExecutor<T>::shape_of(const PersistentStep& op) const {
  return {.in = this->value(op.hidden_weight).shape[0],
          .hidden = this->value(op.hidden_weight).shape[1],
          .out = this->value(op.weight).shape[1],
          .rows = this->batch().rows};
}

template <typename T>
void PersistentExecutor<T>::run(const PersistentStep& op) {
  trainer_->train(this->stream(), {.shape = shape_of(op),
                                   .steps = this->batch().steps,
                                   .features = this->at(op.features),
                                   .labels = this->at(op.labels),
                                   .order = this->at(op.order),
                                   .weight = this->at(op.hidden_weight),
                                   .bias = this->at(op.hidden_bias),
                                   .out_weight = this->at(op.weight),
                                   .out_bias = this->at(op.bias),
                                   .activation = op.hidden_activation,
                                   .loss = {.batch_rows = this->batch().rows,
                                            .classes = this->columns(op.weight),
                                            .loss = op.at.loss,
                                            .has_threshold = op.at.threshold.has_value(),
                                            .threshold = static_cast<T>(op.at.threshold.value_or(0)),
                                            .activation = op.at.activation},
                                   .learning_rate = static_cast<T>(op.learning_rate),
                                   .l2 = static_cast<T>(op.l2),
                                   .totals = this->at(op.totals),
                                   .first_step = this->batch().step,
                                   .progress = progress_});
}

template <typename T>
PersistentTraining<T>::PersistentTraining(const StepSetup<T>& setup, PersistentExecutor<T>& executor,
                                          TrainingPrograms programs, const Starts& starts)
    : setup_(setup),
      executor_(&executor),
      programs_(std::move(programs)),
      data_(setup.training_set),
      epoch_(setup.training_set.size(), 1),
      progress_({1}, cuda::pinned_memory()) {
  executor.load(programs_.step, setup.max_rows, setup.on_size);
  executor.bind(setup.network.model.features, data_.features());
  executor.bind(setup.network.model.labels, data_.labels());
  executor.report_steps_to(progress_.data());
  if (!starts.empty()) copy_parameters_in(setup.network, starts.front(), "the start");
}

template <typename T>
PersistentTraining<T>::~PersistentTraining() {
  cudaStreamSynchronize(executor_->main_stream().get());  // what fails here was reported elsewhere
  executor_->report_steps_to(nullptr);
  const Model& model = setup_.network.model;
  for (const ValueId id : {model.features, model.labels, model.order}) executor_->bind(id, nullptr);
}

template <typename T>
void PersistentTraining<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  begun_ = 0;
  requested_ = 0;
  epoch_.begin_epoch(order);
  reset_totals(*executor_, programs_.totals);
  *progress_.data() = 0;
}

template <typename T>
void PersistentTraining<T>::run(Index first, Index rows) {
  if (rows != last_.rows) launch();
  last_ = {.first = first, .rows = rows};
  requested_ += rows;
  if (requested_ == first_steps * setup_.max_rows) launch();
}

//! [launch]
/// All steps that have been requested in one launch. It is made for them, so its arguments can say
/// where they begin.
template <typename T>
void PersistentTraining<T>::launch() {
  if (requested_ == begun_) return;
  executor_->bind(setup_.network.model.order, epoch_.orders() + epoch_.first() + begun_);
  executor_->execute(programs_.step, {.first = begun_,
                                      .rows = last_.rows,
                                      .step = begun_ / setup_.max_rows + 1,
                                      .steps = (requested_ - begun_) / last_.rows});
  begun_ = requested_;
}
//! [launch]

template <typename T>
Index PersistentTraining<T>::samples_done(Index asked) const {
  const std::int64_t steps = *static_cast<const volatile std::int64_t*>(progress_.data());
  return std::min<Index>(asked, steps * setup_.max_rows);
}

template <typename T>
bool PersistentTraining<T>::is_done() {
  launch();
  return executor_->main_stream().is_done();
}

template <typename T>
Totals PersistentTraining<T>::totals() {
  launch();
  return totals_of(*executor_, programs_.totals);
}

template <typename T>
Samples PersistentTraining<T>::last_batch() const {
  return {&setup_.training_set,
          order_.subspan(static_cast<std::size_t>(requested_ - last_.rows), static_cast<std::size_t>(last_.rows))};
}

template class PersistentExecutor<float>;
template class PersistentExecutor<double>;
template class PersistentTraining<float>;
template class PersistentTraining<double>;

}  // namespace stagewise

#include "ladders/persistent/training/persistent_training.hpp"

#include <algorithm>
#include <utility>

#include "cuda/memory.hpp"
#include "training/parameters.hpp"

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
  trainer_->train(this->stream(),
                  {.shape = shape_of(op),
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
PersistentTraining<T>::PersistentTraining(const StepSetup<T>& setup,
                                          PersistentExecutor<T>& executor,
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
  return {&setup_.training_set, order_.subspan(static_cast<std::size_t>(requested_ - last_.rows),
                                               static_cast<std::size_t>(last_.rows))};
}

template class PersistentExecutor<float>;
template class PersistentExecutor<double>;
template class PersistentTraining<float>;
template class PersistentTraining<double>;

}  // namespace stagewise

#include "ladders/persistent/training/persistent_executor.hpp"

namespace stagewise {

template <typename T>
void PersistentExecutor<T>::prepare(const Program& program) {
  MinibatchExecutor<T>::prepare(program);
  for (const Line& line : program.lines) {
    const auto* const step = std::get_if<PersistentStep>(&line.operation);
    if (step == nullptr) continue;
    minibatch::persistent::MlpShape shape = shape_of(*step);
    shape.rows = this->max_rows();
    trainer_ = std::make_unique<minibatch::persistent::Trainer<T>>(shape);
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
                                   .loss = op.at.loss,
                                   .out_activation = op.at.activation,
                                   .has_threshold = op.at.threshold.has_value(),
                                   .threshold = static_cast<T>(op.at.threshold.value_or(0)),
                                   .learning_rate = static_cast<T>(op.learning_rate),
                                   .l2 = static_cast<T>(op.l2),
                                   .totals = this->at(op.totals),
                                   .first_step = this->batch().step,
                                   .progress = progress_});
}

template class PersistentExecutor<float>;
template class PersistentExecutor<double>;

}  // namespace stagewise

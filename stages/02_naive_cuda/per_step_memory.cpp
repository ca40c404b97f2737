#include "02_naive_cuda/per_step_memory.hpp"

#include "training/parameters.hpp"

namespace stagewise {

template <typename T>
PerStepMemory<T>::PerStepMemory(Network<T>& network, const ModelOptions& model,
                                const Dataset& training_set, const Sgd& sgd)
    : network_(&network),
      model_(&model),
      training_set_(&training_set),
      sgd_(sgd),
      parameters_(copy_parameters_out(network.graph)) {}

template <typename T>
void PerStepMemory<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  totals_ = {};
  step_ = 0;
}

template <typename T>
void PerStepMemory<T>::run(Index first, Index rows) {
  ++step_;
  last_rows_ = rows;
  Totals totals;
  run_timed(network_->graph, timing_, [&] { totals = run_from_nothing(first, rows); });
  totals_.loss += totals.loss;
  totals_.correct += totals.correct;
  if (totals.first_bad_step >= 0 && totals_.first_bad_step < 0) totals_.first_bad_step = step_;
}

//! [per_step]
template <typename T>
Totals PerStepMemory<T>::run_from_nothing(Index first, Index rows) {
  const auto network =  // allocates
      build_model(network_->graph.backend(), *model_, rows, GraphMode::training);
  copy_parameters_in(network->graph, parameters_, "the step before");

  EagerStep<T> step(*network, *training_set_, sgd_);
  step.begin_epoch(order_);
  step.run(first, rows);

  parameters_ = copy_parameters_out(network->graph);
  return step.totals();
}  // frees
//! [per_step]

template <typename T>
void PerStepMemory<T>::end_epoch() {
  copy_parameters_in(network_->graph, parameters_, "the last step");
  // The trainer looks at the loss of the epoch's last batch once more.
  PlainFeeder<T>(*network_, *training_set_).feed(order_.last(static_cast<std::size_t>(last_rows_)));
}

template <typename T>
std::vector<Timing> PerStepMemory<T>::timings() const {
  if (network_->graph.timings().empty()) return {};
  return {timing_};
}

template class PerStepMemory<float>;
template class PerStepMemory<double>;

}  // namespace stagewise

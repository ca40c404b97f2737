#include "reports/000/per_step_memory/per_step_memory.hpp"

#include "training/parameters.hpp"

namespace stagewise {

template <typename T>
PerStepMemory<T>::PerStepMemory(Network<T>& network, const Dataset& training_set, const Sgd& sgd,
                                std::vector<ParameterValues> start, MakeExecutor make_executor, Index max_rows)
    : network_(&network),
      training_set_(&training_set),
      sgd_(sgd),
      parameters_(std::move(start)),
      make_executor_(std::move(make_executor)) {
  network.load(max_rows);
  copy_parameters_in(network, parameters_, "the start");
}

template <typename T>
void PerStepMemory<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  totals_ = {};
  batch_ = {.step = 0};
}

template <typename T>
void PerStepMemory<T>::run(Index first, Index rows) {
  batch_ = {.first = first, .rows = rows, .step = batch_.step + 1};
  Totals totals;
  network_->executor->run_timed("step  allocations included", [&] { totals = run_from_nothing(first, rows); });
  totals_.loss += totals.loss;
  totals_.correct += totals.correct;
  const bool is_bad = totals.first_bad_step >= 0 && totals_.first_bad_step < 0;
  if (is_bad) totals_.first_bad_step = batch_.step;
}

//! [per_step]
template <typename T>
Totals PerStepMemory<T>::run_from_nothing(Index first, Index rows) {
  Network<T> network(network_->model, make_executor_());
  ProgramStep<T> step({.network = network, .training_set = *training_set_, .max_rows = rows},
                      build_training(network.model, sgd_, {}), {parameters_});  // allocates
  step.begin_epoch(order_);
  step.run(first, rows);

  parameters_ = copy_parameters_out(network);
  return step.totals();
}  // frees
//! [per_step]

template <typename T>
void PerStepMemory<T>::end_epoch() {
  copy_parameters_in(*network_, parameters_, "the last step");
}

template <typename T>
Samples PerStepMemory<T>::last_batch() const {
  return {training_set_, order_.subspan(static_cast<std::size_t>(batch_.first), static_cast<std::size_t>(batch_.rows))};
}

template class PerStepMemory<float>;
template class PerStepMemory<double>;

}  // namespace stagewise

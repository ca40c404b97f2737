#include "training/step.hpp"

#include <algorithm>

#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise {

template <typename T>
void start_workers(Network<T>& network, const TrainingPrograms& programs, const Starts& starts) {
  if (programs.workers.size() != starts.size()) {
    throw Error(std::to_string(programs.workers.size()) + " workers cannot start from the parameters of " +
                std::to_string(starts.size()));
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    copy_parameters_in(network, programs.workers[i], starts[i], "a worker's start");
  }
}

template <typename T>
std::vector<ParameterValues> copy_state_out(Executor<T>& executor, const TrainingPrograms& programs) {
  std::vector<ParameterValues> result;
  for (const ValueId id : programs.optimizer.states) {
    const Value& state = programs.step[id];
    result.push_back(copy_out(executor, id, state.name, state.shape));
  }
  return result;
}

template <typename T>
void copy_state_in(Executor<T>& executor, const TrainingPrograms& programs, const std::vector<ParameterValues>* state,
                   const std::string& source) {
  for (const ValueId id : programs.optimizer.states) {
    const Value& value = programs.step[id];
    if (state == nullptr) {
      const auto count = static_cast<std::size_t>(value.shape.elements());
      copy_in(executor, id, std::vector<double>(count));
      continue;
    }
    const auto found = std::ranges::find(*state, value.name, &ParameterValues::name);
    if (found == state->end() || found->shape != value.shape) {
      throw Error(source + " holds no '" + value.name + "' of shape " + value.shape.to_string() +
                  ", which its optimizer has to continue from");
    }
    copy_in(executor, id, found->values);
  }
}

template <typename T>
void reset_totals(Executor<T>& executor, const std::vector<ValueId>& totals) {
  const Totals zero;
  for (const ValueId id : totals) {
    executor.copy_in(executor.template data<Totals>(id), &zero, sizeof(zero));
  }
}

template <typename T>
Totals totals_of(Executor<T>& executor, const std::vector<ValueId>& totals) {
  Totals all;
  for (const ValueId id : totals) {
    Totals own;
    executor.copy_out(&own, executor.template data<Totals>(id), sizeof(own));
    all.loss += own.loss;
    all.correct += own.correct;
    const bool is_earlier =
        own.first_bad_step >= 0 && (all.first_bad_step < 0 || own.first_bad_step < all.first_bad_step);
    if (is_earlier) all.first_bad_step = own.first_bad_step;
  }
  return all;
}

template <typename T>
ProgramStep<T>::ProgramStep(const StepSetup<T>& setup, TrainingPrograms programs, const Starts& starts)
    : setup_(setup),
      programs_(std::move(programs)),
      rates_(*setup.network.executor, programs_.optimizer,
             (setup.training_set.size() + setup.max_rows - 1) / setup.max_rows) {
  Executor<T>& executor = *setup.network.executor;
  executor.load(programs_.step, setup.max_rows, setup.on_size);
  executor.load(programs_.take_over, setup.max_rows);
  copy_state_in(executor, programs_);
  if (setup.workers.average == Average::gradients) {
    copy_parameters_in(setup.network, starts.front(), "the start");
    return;
  }
  start_workers(setup.network, programs_, starts);
  executor.execute(programs_.mean, {.rows = setup.max_rows});
}

template <typename T>
void ProgramStep<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  batch_ = {.step = 0};
  setup_.network.executor->read_from(setup_.training_set, order);
  reset_totals(*setup_.network.executor, programs_.totals);
  rates_.begin_epoch(setup_.steps_done);
}

//! [run]
template <typename T>
void ProgramStep<T>::run(Index first, Index rows) {
  batch_ = {.first = first, .rows = rows, .step = batch_.step + 1};
  rates_.use_step(batch_.step - 1);
  setup_.network.executor->execute(programs_.step, batch_);
  ++setup_.steps_done;
  const bool are_averaged =
      setup_.workers.average == Average::weights && setup_.steps_done % setup_.workers.average_every == 0;
  if (are_averaged) setup_.network.executor->execute(programs_.take_over, batch_);
}
//! [run]

template <typename T>
Totals ProgramStep<T>::totals() {
  return totals_of(*setup_.network.executor, programs_.totals);
}

template <typename T>
void ProgramStep<T>::end_epoch() {
  setup_.network.executor->execute(programs_.mean, batch_);
}

template <typename T>
Samples ProgramStep<T>::last_batch() const {
  return {&setup_.training_set,
          order_.subspan(static_cast<std::size_t>(batch_.first), static_cast<std::size_t>(batch_.rows))};
}

template <typename T>
std::vector<std::vector<ParameterValues>> ProgramStep<T>::worker_parameters() const {
  std::vector<std::vector<ParameterValues>> result;
  for (const std::vector<ValueId>& own : programs_.workers) {
    result.push_back(copy_parameters_out(setup_.network, own));
  }
  return result;
}

template <typename T>
std::vector<ParameterValues> ProgramStep<T>::optimizer_state() const {
  return copy_state_out(*setup_.network.executor, programs_);
}

template <typename T>
void ProgramStep<T>::set_optimizer_state(const std::vector<ParameterValues>& state, const std::string& source) {
  copy_state_in(*setup_.network.executor, programs_, &state, source);
}

template class ProgramStep<float>;
template class ProgramStep<double>;
template void start_workers(Network<float>&, const TrainingPrograms&, const Starts&);
template void start_workers(Network<double>&, const TrainingPrograms&, const Starts&);
template std::vector<ParameterValues> copy_state_out(Executor<float>&, const TrainingPrograms&);
template std::vector<ParameterValues> copy_state_out(Executor<double>&, const TrainingPrograms&);
template void copy_state_in(Executor<float>&, const TrainingPrograms&, const std::vector<ParameterValues>*,
                            const std::string&);
template void copy_state_in(Executor<double>&, const TrainingPrograms&, const std::vector<ParameterValues>*,
                            const std::string&);
template void reset_totals(Executor<float>&, const std::vector<ValueId>&);
template void reset_totals(Executor<double>&, const std::vector<ValueId>&);
template Totals totals_of(Executor<float>&, const std::vector<ValueId>&);
template Totals totals_of(Executor<double>&, const std::vector<ValueId>&);

}  // namespace stagewise

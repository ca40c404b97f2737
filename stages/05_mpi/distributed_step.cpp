#include "05_mpi/distributed_step.hpp"

#include <utility>

#include "mpi/parameters_of_ranks.hpp"
#include "tensor/counts.hpp"
#include "tensor/option_error.hpp"
#include "training/parameters.hpp"

namespace stagewise::mpi {
namespace {

/// What distribute_data() and distribute_tensor() add to the names of a rank's own values.
std::string suffix_of(int rank) {
  return "@" + std::to_string(rank);
}

}  // namespace

template <typename T>
DistributedStep<T>::DistributedStep(const StepSetup<T>& setup, DistributedExecutor<T>& executor,
                                    const Sgd& sgd, const Starts& starts, World& world,
                                    MpiRanks& ranks, const DistributedStepOptions& options)
    : setup_(setup),
      executor_(&executor),
      world_(&world),
      ranks_(&ranks),
      shards_(setup.training_set.size(), setup.max_rows, samples().count),
      splits_network_(part().count > 1) {
  if (splits_network_ && samples().count > setup.max_rows) {  // some would have nothing to do
    throw OptionError("--strategy hybrid cannot divide a batch of " +
                          count_of(setup.max_rows, "sample") + " among " +
                          count_of(samples().count, "network"),
                      {"strategy"});
  }
  TensorPrograms programs =
      distribute(setup.network.model, sgd, setup.workers.average,
                 {.network = part(),
                  .samples = samples(),
                  .overlaps = options.overlaps.value_or(!executor.adds_up_in_kernels()),
                  .sums_update = executor.can_update()});
  parameters_ = std::move(programs.parameters);
  const std::size_t own = starts.size() > 1 ? static_cast<std::size_t>(world.rank()) : 0;
  const Starts own_starts = splits_network_ ? Starts{} : Starts{starts.at(own)};
  step_ = std::make_unique<RecordedStep<T>>(setup_, executor, setup.training_set.size(),
                                            programs.step, own_starts, options.step);
  if (splits_network_) start_split(starts.front());
}

//! [own_order]
template <typename T>
void DistributedStep<T>::prepare_epoch(std::span<const std::uint32_t> order) {
  next_own_order_ = own_order(order);
  step_->prepare_epoch(next_own_order_);
}

template <typename T>
void DistributedStep<T>::begin_epoch(std::span<const std::uint32_t> order) {
  own_order_ = next_own_order_.empty() ? own_order(order) : std::move(next_own_order_);
  next_own_order_.clear();
  step_->begin_epoch(own_order_);
}

/// This rank's part of the order that all ranks know.
template <typename T>
std::vector<std::uint32_t> DistributedStep<T>::own_order(
    std::span<const std::uint32_t> order) const {
  if (samples().count == 1) return {order.begin(), order.end()};
  std::vector<std::uint32_t> own;
  own.reserve(static_cast<std::size_t>(shards_.samples_of(samples().index)));
  shards_.append(order, samples().index, own);
  return own;
}
//! [own_order]

template <typename T>
Totals DistributedStep<T>::totals() {
  const Totals own = step_->totals();
  if (samples().count == 1) return own;  // the same on every rank
  // The ranks of a tensor group have the same totals, of which one counts.
  return ranks_->sum({.totals = part().index == 0 ? own : Totals{}}).totals;
}

template <typename T>
std::string DistributedStep<T>::place_of_bad_step() const {
  const int rank = ranks_->rank_of_bad_step();
  return world_->size() == 1 || rank < 0 ? "" : " on rank " + std::to_string(rank);
}

template <typename T>
void DistributedStep<T>::end_epoch() {
  step_->end_epoch();
  if (splits_network_) gather_split();
}

template <typename T>
void DistributedStep<T>::start_split(const std::vector<ParameterValues>& start) {
  executor_->load(setup_.network.evaluation, executor_->max_rows());
  copy_parameters_in(setup_.network, start, "the start");
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const auto& [own, along] = parameters_[k];
    copy_in(*executor_, own, part_of(start[k], along, part()).values);
  }
}

template <typename T>
void DistributedStep<T>::gather_split() {
  std::vector<ParameterValues> whole = copy_parameters_out(setup_.network);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    const auto& [own, along] = parameters_[k];
    const Shape shape = part_of(whole[k], along, part()).shape;
    gather_parts(tensor_group(), copy_out(*executor_, own, whole[k].name, shape), along, whole[k]);
  }
  copy_parameters_in(setup_.network, whole, "the ranks' parts");
}

template <typename T>
std::vector<std::vector<ParameterValues>> DistributedStep<T>::worker_parameters() const {
  if (setup_.workers.average == Average::gradients) return {};
  const std::vector<ParameterValues> own = step_->worker_parameters().front();
  std::vector<std::vector<ParameterValues>> all;
  if (world_->rank() == 0) all.resize(static_cast<std::size_t>(world_->size()));
  for (const ParameterValues& parameter : own) {
    std::vector<ParameterValues> each = of_each_rank(*world_, parameter);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      all[rank].push_back(std::move(each[rank]));
    }
  }
  return all;
}

template <typename T>
std::vector<ParameterValues> DistributedStep<T>::optimizer_state() const {
  std::vector<ParameterValues> own = step_->optimizer_state();
  const bool is_split = splits_network_ && !own.empty();
  if (!is_split && setup_.workers.average == Average::gradients) return own;  // all have the same
  const std::vector<ParameterValues> parameters = copy_parameters_out(setup_.network);
  std::vector<ParameterValues> all;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string name = own[i].name.substr(0, own[i].name.find('@'));
    if (is_split) {
      const std::size_t k = i * parameters.size() / own.size();
      all.push_back({.name = name, .shape = parameters[k].shape, .values = parameters[k].values});
      gather_parts(tensor_group(), own[i], parameters_[k].along, all.back());
      continue;
    }
    for (int rank = 0; ParameterValues & values : of_each_rank(*world_, own[i])) {
      values.name = name + suffix_of(rank++);
      all.push_back(std::move(values));
    }
  }
  return all;
}

template <typename T>
void DistributedStep<T>::set_optimizer_state(const std::vector<ParameterValues>& state,
                                             const std::string& source) {
  if (!splits_network_) return step_->set_optimizer_state(state, source);
  std::vector<ParameterValues> own;
  const Model& model = setup_.network.model;
  for (const ParameterValues& whole : state) {
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      const Value& parameter = model[model.parameters[k]];
      if (!whole.name.ends_with("/" + parameter.name) || whole.shape != parameter.shape) continue;
      own.push_back(part_of(whole, parameters_[k].along, part()));
      own.back().name += suffix_of(part().index);
    }
  }
  step_->set_optimizer_state(own, source);
}

template class DistributedStep<float>;
template class DistributedStep<double>;

}  // namespace stagewise::mpi

#include "training/worker_step.hpp"

#include <algorithm>

#include "tensor/error.hpp"
#include "training/parameters.hpp"

namespace stagewise {

//! [shard_of]
Shard shard_of(Index rows, int workers, int worker) {
  const Index size = rows / workers;
  const Index longer = rows % workers;  // so many shards have one sample more
  return {.first = worker * size + std::min<Index>(worker, longer),
          .rows = size + (worker < longer ? 1 : 0)};
}
//! [shard_of]

template <typename T>
WorkerStep<T>::WorkerStep(Network<T>& network, const Dataset& training_set, const Sgd& sgd,
                          const WorkerOptions& options,
                          const std::vector<std::vector<ParameterValues>>& starts,
                          std::int64_t steps_done)
    : network_(&network),
      sgd_(sgd),
      options_(options),
      feeder_(network, training_set),
      steps_done_(steps_done),
      totals_(network.graph.backend().template allocate<Totals>({1})) {
  if (options.average == Average::gradients) {
    for (Parameter<T>* const parameter : network.graph.parameters()) {
      gradients_.push_back(network.graph.backend().template allocate<T>(parameter->sample_shape()));
    }
    return;
  }
  if (starts.size() != static_cast<std::size_t>(options.workers)) {
    throw Error(std::to_string(options.workers) + " workers cannot start from the parameters of " +
                std::to_string(starts.size()));
  }
  for (const std::vector<ParameterValues>& start : starts) {
    copy_parameters_in(network.graph, start, "a worker's start");
    store(workers_.emplace_back());
  }
  compute_mean();
  load(mean_);
}

template <typename T>
void WorkerStep<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  step_of_epoch_ = 0;
  const Totals zero;
  network_->graph.backend().copy_in(totals_.data(), &zero, sizeof(zero));
}

template <typename T>
void WorkerStep<T>::run(Index first, Index rows) {
  ++step_of_epoch_;
  ++steps_done_;
  if (options_.average == Average::gradients) {
    step_with_mean_gradient(first, rows);
  } else {
    step_each(first, rows);
  }
}

/// Forward and backward on one shard.
template <typename T>
void WorkerStep<T>::run_shard(const Shard& shard) {
  run_timed(network_->graph, gather_, [&] {
    feeder_.feed(order_.subspan(static_cast<std::size_t>(shard.first),
                                static_cast<std::size_t>(shard.rows)));
  });
  network_->graph.forward();
  network_->graph.backend().accumulate(shard.rows, network_->loss->value(),
                                       network_->prediction->predictions(), network_->labels.data(),
                                       step_of_epoch_, totals_.data());
  network_->graph.backward();
}

//! [mean_gradient]
template <typename T>
void WorkerStep<T>::step_with_mean_gradient(Index first, Index rows) {
  Backend<T>& backend = network_->graph.backend();
  const auto& parameters = network_->graph.parameters();
  run_timed(network_->graph, average_, [&] {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      backend.fill(parameters[i]->elements(), T{0}, gradients_[i].data());
    }
  });
  for (int worker = 0; worker < options_.workers; ++worker) {
    const Shard shard = shard_of(rows, options_.workers, worker);
    if (shard.rows == 0) continue;
    run_shard({first + shard.first, shard.rows});
    const T weight = static_cast<T>(shard.rows) / static_cast<T>(rows);
    run_timed(network_->graph, average_, [&] {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        // sum -= -weight (gradient + 0 sum): the update's arithmetic adds, too.
        backend.sgd_update(parameters[i]->elements(), -weight, T{0}, parameters[i]->gradient(),
                           gradients_[i].data());
      }
    });
  }
  run_timed(network_->graph, update_, [&] {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const double l2 = parameters[i]->kind() == ParameterKind::bias ? 0 : sgd_.l2;
      backend.sgd_update(parameters[i]->elements(), static_cast<T>(sgd_.learning_rate),
                         static_cast<T>(l2), gradients_[i].data(), parameters[i]->value());
    }
  });
}
//! [mean_gradient]

//! [mean_weights]
template <typename T>
void WorkerStep<T>::step_each(Index first, Index rows) {
  for (int worker = 0; worker < options_.workers; ++worker) {
    const Shard shard = shard_of(rows, options_.workers, worker);
    if (shard.rows == 0) continue;
    Flat& own = workers_[static_cast<std::size_t>(worker)];
    run_timed(network_->graph, switch_, [&] { load(own); });
    run_shard({first + shard.first, shard.rows});
    run_timed(network_->graph, update_, [&] { update(network_->graph, sgd_); });
    run_timed(network_->graph, switch_, [&] { store(own); });
  }
  if (steps_done_ % options_.average_every == 0) {
    run_timed(network_->graph, average_, [&] {
      compute_mean();
      for (Flat& own : workers_) own = mean_;
    });
  }
}
//! [mean_weights]

template <typename T>
void WorkerStep<T>::compute_mean() {
  mean_.resize(workers_.front().size());
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    double sum = 0;
    for (const Flat& own : workers_) sum += static_cast<double>(own[i]);
    mean_[i] = static_cast<T>(sum / static_cast<double>(workers_.size()));
  }
}

template <typename T>
void WorkerStep<T>::end_epoch() {
  if (options_.average == Average::gradients) return;
  compute_mean();
  load(mean_);
}

template <typename T>
Totals WorkerStep<T>::totals() {
  Totals totals;
  network_->graph.backend().copy_out(&totals, totals_.data(), sizeof(totals));
  return totals;
}

template <typename T>
std::vector<Timing> WorkerStep<T>::timings() const {
  if (network_->graph.timings().empty()) return {};
  if (options_.average == Average::gradients) return {gather_, average_, update_};
  return {gather_, switch_, average_, update_};
}

template <typename T>
void WorkerStep<T>::load(const Flat& values) {
  const T* from = values.data();
  for (Parameter<T>* const parameter : network_->graph.parameters()) {
    network_->graph.backend().copy_in(parameter->value(), from,
                                      static_cast<std::size_t>(parameter->elements()) * sizeof(T));
    from += parameter->elements();
  }
}

template <typename T>
void WorkerStep<T>::store(Flat& values) {
  Index count = 0;
  for (const Parameter<T>* const parameter : network_->graph.parameters()) {
    count += parameter->elements();
  }
  values.resize(static_cast<std::size_t>(count));
  T* to = values.data();
  for (Parameter<T>* const parameter : network_->graph.parameters()) {
    network_->graph.backend().copy_out(to, parameter->value(),
                                       static_cast<std::size_t>(parameter->elements()) * sizeof(T));
    to += parameter->elements();
  }
}

template <typename T>
std::vector<std::vector<ParameterValues>> WorkerStep<T>::worker_parameters() const {
  std::vector<std::vector<ParameterValues>> result;
  for (const Flat& own : workers_) {
    std::vector<ParameterValues>& values = result.emplace_back();
    auto from = own.begin();
    for (const Parameter<T>* const parameter : network_->graph.parameters()) {
      values.push_back({.name = parameter->name(),
                        .shape = parameter->sample_shape(),
                        .values = std::vector<double>(from, from + parameter->elements())});
      from += parameter->elements();
    }
  }
  return result;
}

template class WorkerStep<float>;
template class WorkerStep<double>;

}  // namespace stagewise

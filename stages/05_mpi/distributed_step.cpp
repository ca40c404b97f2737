#include "05_mpi/distributed_step.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "05_mpi/mean.hpp"
#include "05_mpi/scatter.hpp"
#include "cuda/check.hpp"
#include "training/parameters.hpp"

namespace stagewise::mpi {

template <typename T>
DistributedStep<T>::DistributedStep(Network<T>& network, MinibatchBackend<T>& backend,
                                    const ModelOptions& model, const Dataset& training_set,
                                    const Sgd& sgd, const WorkerOptions& workers,
                                    const std::vector<std::vector<ParameterValues>>& starts,
                                    std::int64_t steps_done, World& world, MpiRanks& ranks,
                                    const DistributedStepOptions& options)
    : network_(&network),
      backend_(&backend),
      training_set_(&training_set),
      sgd_(sgd),
      workers_(workers),
      world_(&world),
      ranks_(&ranks),
      shares_(training_set.size(), network.graph.max_rows(), world.size()),
      sends_(ranks.data_from() == DataFrom::root && world.size() > 1),
      steps_done_(steps_done),
      own_network_(
          build_model<T>(backend, model, shares_.rows_of(world.rank()), GraphMode::training)) {
  Graph<T>& graph = own_network_->graph;
  CapturedStepOptions step = options.step;
  step.samples = shares_.samples_of(world.rank());
  step.evaluated_rows = network.graph.max_rows();
  if (workers.average == Average::gradients) {
    for (std::size_t k = 0; k < graph.parameters().size(); ++k) {
      graph.parameters()[k]->share_value(*network.graph.parameters()[k]);
    }
    if (world.size() > 1) {
      exchange_ = std::make_unique<LayerExchange<T>>(graph, sgd_, world, backend.own_stream(),
                                                     options.transport);
      step.captures = false;  // a recording has no place for MPI
    }
  } else {
    copy_parameters_in(graph, starts.at(static_cast<std::size_t>(world.rank())),
                       "a worker's start");
    transport_ = make_transport<T>(options.transport, world, backend.own_stream(),
                                   parameter_count(*own_network_));
    average_weights(false);
  }

  if (sends_) {  // whichever samples: it is their number that the step is made for
    std::vector<std::uint32_t> order(static_cast<std::size_t>(training_set.size()));
    std::iota(order.begin(), order.end(), 0U);
    scatter_samples(order);
  }
  step_ = std::make_unique<CapturedStep<T>>(
      *own_network_, backend, model, own_set(), sgd_, WorkerOptions{},
      std::vector<std::vector<ParameterValues>>{}, steps_done, step, exchange_.get());
}

//! [scatter_samples]
template <typename T>
void DistributedStep<T>::scatter_samples(std::span<const std::uint32_t> order) {
  std::vector<Index> counts;
  std::vector<std::uint32_t> samples;
  for (int rank = 0; rank < world_->size(); ++rank) {
    counts.push_back(shares_.samples_of(rank));
    if (world_->rank() == 0) shares_.append(order, rank, samples);
  }
  sent_ = scatter(*world_, *training_set_, samples, counts);
  sent_order_.assign(order.begin(), order.end());
}

template <typename T>
void DistributedStep<T>::begin_epoch(std::span<const std::uint32_t> order) {
  Graph<T>& graph = own_network_->graph;
  if (!network_->graph.timings().empty() && graph.timings().empty()) graph.enable_timings();
  own_order_.clear();
  if (sends_) {
    if (!std::equal(order.begin(), order.end(), sent_order_.begin(), sent_order_.end())) {
      scatter_samples(order);
      step_->reload();
    }
    own_order_.resize(static_cast<std::size_t>(sent_.size()));
    std::iota(own_order_.begin(), own_order_.end(), 0U);
  } else {
    shares_.append(order, world_->rank(), own_order_);
  }
  step_->begin_epoch(own_order_);
}
//! [scatter_samples]

//! [run]
template <typename T>
void DistributedStep<T>::run(Index first, Index rows) {
  const Shard own = shard_of(rows, world_->size(), world_->rank());
  ++steps_done_;
  if (exchange_ != nullptr) exchange_->set_batch_rows(rows);
  if (own.rows > 0) {
    const Index batch = first / network_->graph.max_rows();
    step_->run(batch * shares_.rows_of(world_->rank()), own.rows);
    last_rows_ = own.rows;
  } else if (exchange_ != nullptr) {  // the others wait for this rank all the same
    run_timed(own_network_->graph, average_, [&] { exchange_->contribute_nothing(); });
  }
  if (workers_.average == Average::weights && steps_done_ % workers_.average_every == 0) {
    step_->launch_pending();
    run_timed(own_network_->graph, average_, [&] { average_weights(true); });
  }
}
//! [run]

//! [average_weights]
/// The network's parameters become the mean of the ranks'.
/// @param ranks_too whether theirs do, too.
template <typename T>
void DistributedStep<T>::average_weights(bool ranks_too) {
  cudaStream_t stream = backend_->own_stream().get();
  const auto& own = own_network_->graph.parameters();
  const auto& mean = network_->graph.parameters();
  const auto copy = [&](Parameter<T>& from, Parameter<T>& to) {
    CUDA_CHECK(cudaMemcpyAsync(to.value(), from.value(),
                               static_cast<std::size_t>(from.elements()) * sizeof(T),
                               cudaMemcpyDeviceToDevice, stream));
  };
  std::vector<Piece<T>> pieces;
  for (std::size_t k = 0; k < own.size(); ++k) {
    copy(*own[k], *mean[k]);
    pieces.push_back({mean[k]->value(), mean[k]->elements()});
  }
  transport_->begin(pieces);
  transport_->finish();
  for (std::size_t k = 0; k < own.size(); ++k) {
    divide(stream, mean[k]->elements(), static_cast<T>(world_->size()), mean[k]->value());
    if (ranks_too) copy(*mean[k], *own[k]);
  }
}
//! [average_weights]

template <typename T>
Index DistributedStep<T>::samples_done(Index asked) const {
  const Index rows = shares_.rows_of(world_->rank());
  const Index own = step_->samples_done(std::ssize(own_order_));
  return std::min(asked, own / rows * network_->graph.max_rows());
}

template <typename T>
Totals DistributedStep<T>::totals() {
  return ranks_->sum({.totals = step_->totals()}).totals;
}

template <typename T>
std::string DistributedStep<T>::place_of_bad_step() const {
  const int rank = ranks_->rank_of_bad_step();
  return world_->size() == 1 || rank < 0 ? "" : " on rank " + std::to_string(rank);
}

template <typename T>
void DistributedStep<T>::end_epoch() {
  step_->end_epoch();
  if (workers_.average == Average::weights) {
    run_timed(own_network_->graph, average_, [&] { average_weights(false); });
  }
  PlainFeeder<T>(*network_, own_set())
      .feed(std::span(own_order_).last(static_cast<std::size_t>(last_rows_)));
}

template <typename T>
std::vector<std::vector<ParameterValues>> DistributedStep<T>::worker_parameters() const {
  if (workers_.average == Average::gradients) return {};
  const std::vector<ParameterValues> own = copy_parameters_out(own_network_->graph);
  std::vector<std::vector<ParameterValues>> all;
  if (world_->rank() == 0) all.resize(static_cast<std::size_t>(world_->size()), own);
  for (int rank = 0; rank < world_->size(); ++rank) {  // one after the other, to save memory
    for (std::size_t k = 0; k < own.size(); ++k) {
      std::vector<double> values = own[k].values;
      world_->broadcast(values, rank);
      if (!all.empty()) all[static_cast<std::size_t>(rank)][k].values = std::move(values);
    }
  }
  return all;
}

template <typename T>
std::vector<Timing> DistributedStep<T>::timings() const {
  std::vector<Timing> rows = step_->timings();
  if (rows.empty()) return rows;
  if (average_.calls > 0) rows.push_back(average_);
  std::vector<Timing> layers = own_network_->graph.timings();
  std::erase_if(layers, [](const Timing& layer) { return layer.calls == 0; });
  rows.insert(rows.begin() + 1, layers.begin(), layers.end());  // behind the gathering
  return rows;
}

template class DistributedStep<float>;
template class DistributedStep<double>;

}  // namespace stagewise::mpi

#include "05_mpi/tensor_step.hpp"

#include <numeric>

#include "05_mpi/scatter.hpp"
#include "cuda/check.hpp"
#include "cuda/memory.hpp"
#include "tensor/counts.hpp"
#include "training/parameters.hpp"

namespace stagewise::mpi {

template <typename T>
TensorStep<T>::TensorStep(Network<T>& network, MinibatchBackend<T>& backend,
                          const ModelOptions& model, const Dataset& training_set, const Sgd& sgd,
                          World& world, const MpiRanks& ranks, const TransportOptions& transport,
                          bool streams_batches, int processes)
    : network_(&network),
      backend_(&backend),
      training_set_(&training_set),
      sgd_(sgd),
      world_(&world),
      hidden_(model.hidden.empty() ? 0 : model.hidden.front()),
      totals_(backend.template allocate<Totals>({1})) {
  check_splittable(model, world.size());
  units_ = shard_of(hidden_, world.size(), world.rank());
  if (ranks.data_from() == DataFrom::root && world.size() > 1) {
    sent_ = broadcast(world, training_set);  // every rank needs every sample
  }
  const Index rows = network.graph.max_rows();
  transport_ = make_transport<T>(transport, world, backend.own_stream(), rows * model.classes);
  part_ = build_split_mlp(backend, model, rows, units_, *transport_);
  copy_parameters_in(part_->graph, split_parameters(copy_parameters_out(network.graph), units_),
                     "the whole network");
  part_->graph.update_in_backward(&sgd_);
  decide_on_residence(streams_batches, processes);
}

template <typename T>
TensorStep<T>::~TensorStep() {
  cudaStreamSynchronize(backend_->own_stream().get());  // what fails here was reported elsewhere
}

template <typename T>
void TensorStep<T>::decide_on_residence(bool streams_batches, int processes) {
  // Evaluation takes two batches more.
  const Shape batches = network_->input->value_shape(2 * network_->graph.max_rows());
  const std::size_t needed =
      ResidentData<T>::bytes(data(), 1) + static_cast<std::size_t>(batches.elements()) * sizeof(T);
  std::size_t free = 0;
  std::size_t total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  free /= static_cast<std::size_t>(processes);
  if (!streams_batches && needed + needed / 64 <= free) {
    resident_ = std::make_unique<ResidentData<T>>(data(), 1);
    return;
  }
  if (!streams_batches) {
    notes_.push_back(size_text(needed) + " are needed to keep the data, " + size_text(free) +
                     " are free: batches are streamed");
  }
  feeder_ = std::make_unique<StreamedFeeder<T>>(*part_, *backend_, data());
}

template <typename T>
void TensorStep<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  step_ = 0;
  if (!network_->graph.timings().empty() && part_->graph.timings().empty()) {
    part_->graph.enable_timings();
  }
  if (resident_ != nullptr) resident_->begin_epoch(backend_->own_stream().get(), order);
  const Totals zero;
  backend_->copy_in(totals_.data(), &zero, sizeof(zero));
}

template <typename T>
void TensorStep<T>::feed(Index first, Index rows) {
  if (feeder_ != nullptr) {
    feeder_->feed(order_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)));
    return;
  }
  part_->graph.set_rows(rows);
  resident_->gather(backend_->own_stream().get(), resident_->order() + first, rows,
                    part_->input->value(), part_->labels.data());
}

//! [run]
template <typename T>
void TensorStep<T>::run(Index first, Index rows) {
  last_rows_ = rows;
  Graph<T>& graph = part_->graph;
  run_timed(graph, gather_, [&] { feed(first, rows); });
  graph.forward();  // the ranks add up their parts of the outputs
  backend_->accumulate(rows, part_->loss->value(), part_->prediction->predictions(),
                       part_->labels.data(), ++step_, totals_.data());
  graph.backward();  // each rank updates what it has
}
//! [run]

template <typename T>
Totals TensorStep<T>::totals() {
  Totals totals;  // the same on every rank
  backend_->copy_out(&totals, totals_.data(), sizeof(totals));
  return totals;
}

//! [end_epoch]
template <typename T>
void TensorStep<T>::end_epoch() {
  std::vector<ParameterValues> whole = copy_parameters_out(network_->graph);
  const std::vector<ParameterValues> own = copy_parameters_out(part_->graph);
  for (int rank = 0; rank < world_->size(); ++rank) {
    const Shard units = shard_of(hidden_, world_->size(), rank);
    std::vector<ParameterValues> part =
        rank == world_->rank() ? own : split_parameters(whole, units);
    for (ParameterValues& parameter : part) world_->broadcast(parameter.values, rank);
    merge_parameters(part, units, whole);
  }
  copy_parameters_in(network_->graph, whole, "the ranks' parts");
  PlainFeeder<T>(*network_, data()).feed(order_.last(static_cast<std::size_t>(last_rows_)));
}
//! [end_epoch]

template <typename T>
std::vector<Timing> TensorStep<T>::timings() const {
  if (part_->graph.timings().empty()) return {};
  std::vector<Timing> rows = {gather_};
  for (const Timing& layer : part_->graph.timings()) {
    if (layer.calls > 0) rows.push_back(layer);
  }
  return rows;
}

template class TensorStep<float>;
template class TensorStep<double>;

}  // namespace stagewise::mpi

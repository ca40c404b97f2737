#include "training/step.hpp"

namespace stagewise {

template <typename T>
Staging<T> make_staging(Network<T>& network) {
  Backend<T>& backend = network.graph.backend();
  if (backend.host_accessible()) return {};
  const Index rows = network.graph.max_rows();
  return {.features = Tensor<T>(network.input->value_shape(rows), backend.staging_memory()),
          .labels = Labels({rows}, backend.staging_memory())};
}

template <typename T>
void load_batch(Network<T>& network, const Dataset& dataset, std::span<const std::uint32_t> samples,
                Staging<T>& staging) {
  Backend<T>& backend = network.graph.backend();
  network.graph.set_rows(static_cast<Index>(samples.size()));
  if (backend.host_accessible()) {
    dataset.gather(samples, network.input->value());
    dataset.gather_labels(samples, network.labels.data());
    return;
  }
  //! [load_batch]
  // The device still works on the batch before while the host gathers this one.
  dataset.gather(samples, staging.features.data());
  dataset.gather_labels(samples, staging.labels.data());
  const Index features = network.input->value_shape(network.graph.rows()).elements();
  backend.copy_in(network.input->value(), staging.features.data(),
                  static_cast<std::size_t>(features) * sizeof(T));
  backend.copy_in(network.labels.data(), staging.labels.data(),
                  samples.size() * sizeof(std::int32_t));
  //! [load_batch]
}

template <typename T>
EagerStep<T>::EagerStep(Network<T>& network, const Dataset& training_set, const Sgd& sgd)
    : network_(&network),
      training_set_(&training_set),
      sgd_(sgd),
      totals_(network.graph.backend().template allocate<Totals>({1})),
      staging_(make_staging(network)) {}

template <typename T>
void EagerStep<T>::begin_epoch(std::span<const std::uint32_t> order) {
  order_ = order;
  step_ = 0;
  const Totals zero;
  network_->graph.backend().copy_in(totals_.data(), &zero, sizeof(zero));
}

template <typename T>
void EagerStep<T>::run(Index first, Index rows) {
  Graph<T>& graph = network_->graph;
  Backend<T>& backend = graph.backend();
  //! [step]
  run_timed(graph, gather_, [&] {
    load_batch(*network_, *training_set_,
               order_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)),
               staging_);
  });
  graph.forward();
  backend.accumulate(rows, network_->loss->value(), network_->prediction->predictions(),
                     network_->labels.data(), ++step_, totals_.data());
  graph.backward();
  run_timed(graph, update_, [&] { update(graph, sgd_); });
  //! [step]
}

template <typename T>
Totals EagerStep<T>::totals() {
  Totals totals;
  network_->graph.backend().copy_out(&totals, totals_.data(), sizeof(totals));
  return totals;
}

template <typename T>
std::vector<Timing> EagerStep<T>::timings() const {
  if (network_->graph.timings().empty()) return {};
  return {gather_, update_};
}

template Staging<float> make_staging(Network<float>&);
template Staging<double> make_staging(Network<double>&);
template void load_batch(Network<float>&, const Dataset&, std::span<const std::uint32_t>,
                         Staging<float>&);
template void load_batch(Network<double>&, const Dataset&, std::span<const std::uint32_t>,
                         Staging<double>&);
template class EagerStep<float>;
template class EagerStep<double>;

}  // namespace stagewise

#include "training/step.hpp"

namespace stagewise {

template <typename T>
PlainFeeder<T>::PlainFeeder(Network<T>& network, const Dataset& dataset)
    : network_(&network), dataset_(&dataset) {
  Backend<T>& backend = network.graph.backend();
  if (backend.host_accessible()) return;
  const Index rows = network.graph.max_rows();
  features_ = Tensor<T>(network.input->value_shape(rows), backend.staging_memory());
  labels_ = Labels({rows}, backend.staging_memory());
}

template <typename T>
void PlainFeeder<T>::feed(std::span<const std::uint32_t> samples) {
  Network<T>& network = *network_;
  Backend<T>& backend = network.graph.backend();
  network.graph.set_rows(static_cast<Index>(samples.size()));
  if (backend.host_accessible()) {
    dataset_->gather(samples, network.input->value());
    dataset_->gather_labels(samples, network.labels.data());
    return;
  }
  //! [feed]
  // The device still works on the batch before while the host gathers this one.
  dataset_->gather(samples, features_.data());
  dataset_->gather_labels(samples, labels_.data());
  const Index features = network.input->value_shape(network.graph.rows()).elements();
  backend.copy_in(network.input->value(), features_.data(),
                  static_cast<std::size_t>(features) * sizeof(T));
  backend.copy_in(network.labels.data(), labels_.data(), samples.size() * sizeof(std::int32_t));
  //! [feed]
}

template <typename T>
EagerStep<T>::EagerStep(Network<T>& network, const Dataset& training_set, const Sgd& sgd)
    : network_(&network),
      sgd_(sgd),
      feeder_(network, training_set),
      totals_(network.graph.backend().template allocate<Totals>({1})) {}

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
    feeder_.feed(order_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)));
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

template class PlainFeeder<float>;
template class PlainFeeder<double>;
template class EagerStep<float>;
template class EagerStep<double>;

}  // namespace stagewise

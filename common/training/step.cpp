#include "training/step.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace stagewise {

template <typename T>
Tensor<T> make_staging(Network<T>& network) {
  if (network.graph.backend().host_accessible()) return {};
  return Tensor<T>(network.input->value_shape(network.graph.max_rows()));
}

template <typename T>
void load_batch(Network<T>& network, const Dataset& dataset, std::span<const std::uint32_t> samples,
                Tensor<T>& staging) {
  Backend<T>& backend = network.graph.backend();
  network.graph.set_rows(static_cast<Index>(samples.size()));
  if (backend.host_accessible()) {
    dataset.gather(samples, network.input->value());
    dataset.gather_labels(samples, network.labels.data());
    return;
  }
  dataset.gather(samples, staging.data());
  const Index features = network.input->value_shape(network.graph.rows()).elements();
  backend.copy_in(network.input->value(), staging.data(),
                  static_cast<std::size_t>(features) * sizeof(T));
  // Labels go through a small buffer on the stack, a piece at a time.
  std::array<std::int32_t, 1024> labels;
  for (std::size_t i = 0; i < samples.size(); i += labels.size()) {
    const auto piece = samples.subspan(i, std::min(labels.size(), samples.size() - i));
    dataset.gather_labels(piece, labels.data());
    backend.copy_in(network.labels.data() + i, labels.data(), piece.size_bytes());
  }
}

template <typename T>
EagerStep<T>::EagerStep(Network<T>& network, const Dataset& training_set, const Sgd& sgd)
    : network_(&network),
      training_set_(&training_set),
      sgd_(sgd),
      totals_(network.graph.backend().template allocate<Totals>({1})),
      staged_features_(make_staging(network)) {}

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
  const bool measures = !graph.timings().empty();
  const auto timed = [&](Timing& timing, const auto& work) {
    if (!measures) return work();
    backend.synchronize();
    const auto start = std::chrono::steady_clock::now();
    work();
    backend.synchronize();
    timing.forward_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++timing.calls;
  };

  //! [step]
  timed(gather_, [&] {
    load_batch(*network_, *training_set_,
               order_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)),
               staged_features_);
  });
  graph.forward();
  backend.accumulate(rows, network_->loss->value(), network_->prediction->predictions(),
                     network_->labels.data(), ++step_, totals_.data());
  graph.backward();
  timed(update_, [&] { update(graph, sgd_); });
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

template Tensor<float> make_staging(Network<float>&);
template Tensor<double> make_staging(Network<double>&);
template void load_batch(Network<float>&, const Dataset&, std::span<const std::uint32_t>,
                         Tensor<float>&);
template void load_batch(Network<double>&, const Dataset&, std::span<const std::uint32_t>,
                         Tensor<double>&);
template class EagerStep<float>;
template class EagerStep<double>;

}  // namespace stagewise

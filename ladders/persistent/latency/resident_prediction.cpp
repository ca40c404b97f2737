#include "ladders/persistent/latency/resident_prediction.hpp"

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::minibatch {
namespace {

/// Where the network's batch is when nobody has bound it to other memory.
template <typename T>
T* own_batch(Network<T>& network) {
  network.executor->bind(network.model.batch, nullptr);
  return network.executor->data(network.model.batch);
}

}  // namespace

template <typename T>
ResidentPrediction<T>::ResidentPrediction(Network<T>& network, const cuda::Stream& stream)
    : network_(&network),
      stream_(&stream),
      batch_(own_batch(network)),
      features_(network.model[network.model.batch].shape.batched(network.executor->max_rows()),
                cuda::pinned_memory()) {
  graph_.emplace(stream, [&] { network.executor->execute(network.prediction, {.rows = rows()}); });
}

template <typename T>
void ResidentPrediction<T>::take(const Dataset& dataset, std::span<const std::uint32_t> samples) {
  dataset.gather(samples, features_.data());
  CUDA_CHECK(cudaMemcpyAsync(batch_, features_.data(),
                             static_cast<std::size_t>(features_.elements()) * sizeof(T),
                             cudaMemcpyHostToDevice, stream_->get()));
  stream_->synchronize();
}

template <typename T>
void ResidentPrediction<T>::predict(std::int32_t* classes) {
  graph_->launch(*stream_);
  stream_->synchronize();
  if (classes == nullptr) return;
  network_->executor->copy_out(
      classes, network_->executor->template data<std::int32_t>(network_->model.classes),
      static_cast<std::size_t>(rows()) * sizeof(std::int32_t));
}

template class ResidentPrediction<float>;
template class ResidentPrediction<double>;

}  // namespace stagewise::minibatch

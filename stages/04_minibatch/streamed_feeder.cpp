#include "04_minibatch/streamed_feeder.hpp"

#include <utility>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise {

template <typename T>
StreamedFeeder<T>::StreamedFeeder(Network<T>& network, MinibatchBackend<T>& backend,
                                  const Dataset& dataset)
    : network_(&network), backend_(&backend), dataset_(&dataset) {
  const Index rows = network.graph.max_rows();
  const Shape shape = network.input->value_shape(rows);
  for (Place& place : places_) {
    place.host_features = Tensor<T>(shape, cuda::pinned_memory());
    place.host_labels = Labels({rows}, cuda::pinned_memory());
    place.features = Tensor<T>(shape, cuda::device_memory());
    place.labels = Labels({rows}, cuda::device_memory());
  }
}

template <typename T>
StreamedFeeder<T>::~StreamedFeeder() {
  cudaStreamSynchronize(copies_.get());  // what fails here was reported elsewhere
  cudaStreamSynchronize(backend_->own_stream().get());
  network_->input->use_own();
  give_back_labels();
}

template <typename T>
void StreamedFeeder<T>::give_back_labels() {
  if (lent_ >= 0) {
    std::swap(network_->labels, places_[static_cast<std::size_t>(lent_)].labels);
  }
  lent_ = -1;
}

//! [bring]
template <typename T>
int StreamedFeeder<T>::bring(std::span<const std::uint32_t> samples) {
  const int now = next_;
  next_ = 1 - next_;
  Place& place = places_[static_cast<std::size_t>(now)];
  Place& other = places_[static_cast<std::size_t>(next_)];
  other.used.record(backend_->own_stream());  // all that uses it has been enqueued by now

  place.arrived.synchronize();  // the host's buffer is free again
  dataset_->gather(samples, place.host_features.data());
  dataset_->gather_labels(samples, place.host_labels.data());

  place.used.make_wait(copies_);  // and so is the device's
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copies_.get()));
  };
  const auto sample = static_cast<std::size_t>(dataset_->sample_shape().elements());
  copy(place.features.data(), place.host_features.data(), samples.size() * sample * sizeof(T));
  copy(place.labels.data(), place.host_labels.data(), samples.size() * sizeof(std::int32_t));
  place.arrived.record(copies_);
  place.arrived.make_wait(backend_->own_stream());
  return now;
}
//! [bring]

template <typename T>
void StreamedFeeder<T>::feed(std::span<const std::uint32_t> samples) {
  give_back_labels();
  const int now = bring(samples);
  network_->graph.set_rows(static_cast<Index>(samples.size()));
  network_->input->use(features(now));
  std::swap(network_->labels, places_[static_cast<std::size_t>(now)].labels);
  lent_ = now;
}

template class StreamedFeeder<float>;
template class StreamedFeeder<double>;

}  // namespace stagewise

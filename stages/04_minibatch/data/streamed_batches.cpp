#include "04_minibatch/data/streamed_batches.hpp"

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::minibatch {

template <typename T>
StreamedBatches<T>::StreamedBatches(const Shape& sample, Index max_rows, const cuda::Stream& stream)
    : stream_(&stream) {
  const Shape shape = sample.batched(max_rows);
  for (Place& place : places_) {
    place.host_features = Tensor<T>(shape, cuda::pinned_memory());
    place.host_labels = Tensor<std::int32_t>({max_rows}, cuda::pinned_memory());
    place.features = Tensor<T>(shape, cuda::device_memory());
    place.labels = Tensor<std::int32_t>({max_rows}, cuda::device_memory());
  }
}

template <typename T>
StreamedBatches<T>::~StreamedBatches() {
  cudaStreamSynchronize(copies_.get());  // what fails here was reported elsewhere
  cudaStreamSynchronize(stream_->get());
}

//! [bring]
template <typename T>
int StreamedBatches<T>::bring(const Dataset& dataset, std::span<const std::uint32_t> samples) {
  const int now = next_;
  next_ = 1 - next_;
  Place& place = places_[static_cast<std::size_t>(now)];
  Place& other = places_[static_cast<std::size_t>(next_)];
  other.used.record(*stream_);  // all that uses it has been enqueued by now

  place.arrived.synchronize();  // the host's buffer is free again
  dataset.gather(samples, place.host_features.data());
  dataset.gather_labels(samples, place.host_labels.data());

  place.used.make_wait(copies_);  // and so is the device's
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copies_.get()));
  };
  const auto sample = static_cast<std::size_t>(dataset.sample_shape().elements());
  copy(place.features.data(), place.host_features.data(), samples.size() * sample * sizeof(T));
  copy(place.labels.data(), place.host_labels.data(), samples.size() * sizeof(std::int32_t));
  place.arrived.record(copies_);
  place.arrived.make_wait(*stream_);
  return now;
}
//! [bring]

template class StreamedBatches<float>;
template class StreamedBatches<double>;

}  // namespace stagewise::minibatch

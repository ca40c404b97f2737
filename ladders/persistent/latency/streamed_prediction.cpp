#include "ladders/persistent/latency/streamed_prediction.hpp"

#include <algorithm>

#include "cuda/memory.hpp"

namespace stagewise::minibatch {
namespace {

/// With more parts, the first would arrive sooner, but a small part does not fill a GPU.
constexpr Index most_parts = 4;
constexpr Index least_rows = 1024;

Index rows_of_part(Index rows) {
  const Index parts = std::clamp<Index>(rows / least_rows, 1, most_parts);
  return (rows + parts - 1) / parts;
}

}  // namespace

template <typename T>
StreamedPrediction<T>::StreamedPrediction(Network<T>& network, const cuda::Stream& stream)
    : network_(&network),
      stream_(&stream),
      samples_({network.executor->max_rows()}, cuda::pinned_memory()),
      classes_({network.executor->max_rows()}, cuda::pinned_memory()) {}

template <typename T>
StreamedPrediction<T>::~StreamedPrediction() {
  network_->executor->bind(network_->model.batch, nullptr);
  network_->executor->bind(network_->model.classes, nullptr);
}

template <typename T>
void StreamedPrediction<T>::take(const Dataset& dataset, std::span<const std::uint32_t> samples) {
  if (dataset_ != &dataset) load(dataset);
  std::ranges::copy(samples, samples_.data());
}

template <typename T>
void StreamedPrediction<T>::load(const Dataset& dataset) {
  graph_.reset();
  data_ =
      std::make_unique<HostData<T>>(dataset, dataset.all_samples(), rows_of_part(rows()), *stream_);
  dataset_ = &dataset;
  graph_.emplace(*stream_, [&] { enqueue(); });
}

template <typename T>
void StreamedPrediction<T>::enqueue() {
  const Index rows_of_each = rows_of_part(rows());
  const Index parts = rows() / rows_of_each;
  const Index rest = rows() % rows_of_each;
  enqueue_parts(0, rows_of_each, parts);
  if (rest > 0) enqueue_parts(parts * rows_of_each, rest, 1);
}

//! [parts]
/// The device reads the samples' numbers in the host's memory, and writes classes there.
template <typename T>
void StreamedPrediction<T>::enqueue_parts(Index first, Index rows, Index parts) {
  Executor<T>& executor = *network_->executor;
  const auto compute = [&](Index part, const auto& batch) {
    executor.bind(network_->model.batch, batch.features);
    executor.bind(network_->model.classes, classes_.data() + first + part * rows);
    executor.execute(network_->prediction, {.rows = rows});
  };
  const std::uint32_t* const samples = samples_.data() + first;
  if (parts == 1) return compute(0, data_->fetch_in_order(samples, rows));
  data_->for_each_batch(samples, rows, parts, compute);
}
//! [parts]

template <typename T>
void StreamedPrediction<T>::predict(std::int32_t* classes) {
  graph_->launch(*stream_);
  stream_->synchronize();
  std::copy_n(classes_.data(), rows(), classes);
}

template class StreamedPrediction<float>;
template class StreamedPrediction<double>;

}  // namespace stagewise::minibatch

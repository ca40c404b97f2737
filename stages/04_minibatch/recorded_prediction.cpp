#include "04_minibatch/recorded_prediction.hpp"

#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::minibatch {

template <typename T>
RecordedPrediction<T>::RecordedPrediction(Network<T>& network, const cuda::Stream& stream)
    : stream_(&stream),
      features_(network.model[network.model.batch].shape.batched(network.executor->max_rows()),
                cuda::pinned_memory()),
      classes_({network.executor->max_rows()}, cuda::pinned_memory()) {
  network.executor->bind(network.model.batch, nullptr);
  //! [captured]
  graph_.emplace(stream, [&] {
    Executor<T>& executor = *network.executor;
    CUDA_CHECK(cudaMemcpyAsync(executor.data(network.model.batch), features_.data(),
                               static_cast<std::size_t>(features_.elements()) * sizeof(T),
                               cudaMemcpyHostToDevice, stream.get()));
    executor.execute(network.prediction, {.rows = rows()});
    CUDA_CHECK(cudaMemcpyAsync(classes_.data(),
                               executor.template data<std::int32_t>(network.model.classes),
                               static_cast<std::size_t>(rows()) * sizeof(std::int32_t),
                               cudaMemcpyDeviceToHost, stream.get()));
  });
  //! [captured]
}

template <typename T>
void RecordedPrediction<T>::predict(std::int32_t* classes) {
  graph_->launch(*stream_);
  stream_->synchronize();
  std::copy_n(classes_.data(), rows(), classes);
}

template class RecordedPrediction<float>;
template class RecordedPrediction<double>;

}  // namespace stagewise::minibatch

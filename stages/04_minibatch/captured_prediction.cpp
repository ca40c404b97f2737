#include "04_minibatch/captured_prediction.hpp"

#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise::minibatch {

template <typename T>
CapturedPrediction<T>::CapturedPrediction(Network<T>& network, const cuda::Stream& stream)
    : stream_(&stream),
      features_(network.input->value_shape(network.graph.max_rows()), cuda::pinned_memory()),
      classes_({network.graph.max_rows()}, cuda::pinned_memory()) {
  network.input->use_own();
  network.graph.set_rows(rows());
  graph_.emplace(stream, [&] { enqueue(network); });
}

template <typename T>
void CapturedPrediction<T>::enqueue(Network<T>& network) {
  //! [captured]
  CUDA_CHECK(cudaMemcpyAsync(network.input->value(), features_.data(),
                             static_cast<std::size_t>(features_.elements()) * sizeof(T),
                             cudaMemcpyHostToDevice, stream_->get()));
  forward_to_prediction(network);
  CUDA_CHECK(cudaMemcpyAsync(classes_.data(), network.prediction->predictions(),
                             static_cast<std::size_t>(rows()) * sizeof(std::int32_t),
                             cudaMemcpyDeviceToHost, stream_->get()));
  //! [captured]
}

template <typename T>
void CapturedPrediction<T>::predict(std::int32_t* classes) {
  graph_->launch(*stream_);
  stream_->synchronize();
  std::copy_n(classes_.data(), rows(), classes);
}

template class CapturedPrediction<float>;
template class CapturedPrediction<double>;

}  // namespace stagewise::minibatch

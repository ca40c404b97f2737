#include "cli/eager_predictor.hpp"

namespace stagewise {

template <typename T>
EagerPredictor<T>::EagerPredictor(Network<T>& network) : network_(&network) {
  Executor<T>& executor = *network.executor;
  executor.bind(network.model.batch, nullptr);
  if (executor.host_accessible()) return;
  features_ = Tensor<T>(network.model[network.model.batch].shape.batched(rows()),
                        executor.staging_memory());
}

template <typename T>
T* EagerPredictor<T>::features() {
  return features_.data() != nullptr ? features_.data()
                                     : network_->executor->data(network_->model.batch);
}

template <typename T>
void EagerPredictor<T>::predict(std::int32_t* classes) {
  Executor<T>& executor = *network_->executor;
  const Model& model = network_->model;
  //! [eager]
  if (features_.data() != nullptr) {
    executor.copy_in(executor.data(model.batch), features_.data(),
                     static_cast<std::size_t>(features_.elements()) * sizeof(T));
  }
  executor.execute(network_->prediction, {.rows = rows()});
  executor.copy_out(classes, executor.template data<std::int32_t>(model.classes),
                    static_cast<std::size_t>(rows()) * sizeof(std::int32_t));
  //! [eager]
}

template <typename T>
std::vector<T> EagerPredictor<T>::outputs() {
  const ValueId outputs = network_->model.outputs;
  std::vector<T> values(static_cast<std::size_t>(elements_of(network_->model[outputs], rows())));
  network_->executor->copy_out(values.data(), network_->executor->data(outputs),
                               values.size() * sizeof(T));
  return values;
}

template class EagerPredictor<float>;
template class EagerPredictor<double>;

}  // namespace stagewise

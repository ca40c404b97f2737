/// @file
/// The way to predict batches that every stage has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise {

/// What every stage can do: copy in, execute one line after another, copy out.
template <typename T>
class EagerPredictor final : public Predictor<T> {
 public:
  /// @param network loaded; must outlive this. Its largest batch is the one that is answered.
  explicit EagerPredictor(Network<T>& network) : network_(&network) {
    Executor<T>& executor = *network.executor;
    executor.bind(network.model.batch, nullptr);
    if (executor.host_accessible()) return;
    features_ = Tensor<T>(network.model[network.model.batch].shape.batched(rows()), executor.staging_memory());
  }

  std::string name() const override { return "eager"; }
  Index rows() const override { return network_->executor->max_rows(); }
  T* features() override {
    return features_.data() != nullptr ? features_.data() : network_->executor->data(network_->model.batch);
  }

  void predict(std::int32_t* classes) override {
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

  /// The network's outputs for the last batch, [rows, outputs].
  std::vector<T> outputs() {
    const ValueId outputs = network_->model.outputs;
    std::vector<T> values(static_cast<std::size_t>(elements_of(network_->model[outputs], rows())));
    network_->executor->copy_out(values.data(), network_->executor->data(outputs), values.size() * sizeof(T));
    return values;
  }

  /// Where class 1 begins if one output names the class; else 0.
  T threshold() const { return static_cast<T>(network_->model.threshold.value_or(0)); }

 private:
  Network<T>* network_;
  Tensor<T> features_;  ///< empty if the host can write to the device's memory
};

}  // namespace stagewise

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
  explicit EagerPredictor(Network<T>& network);

  std::string name() const override { return "eager"; }
  Index rows() const override { return network_->executor->max_rows(); }
  T* features() override;
  void predict(std::int32_t* classes) override;

  /// The network's outputs for the last batch, [rows, outputs].
  std::vector<T> outputs();

  /// Where class 1 begins if one output names the class; else 0.
  T threshold() const { return static_cast<T>(network_->model.threshold.value_or(0)); }

 private:
  Network<T>* network_;
  Tensor<T> features_;  ///< empty if the host can write to the device's memory
};

}  // namespace stagewise

/// @file
/// What the device alone takes for a batch: its samples are there, and the classes stay there.
#pragma once

#include <optional>

#include "cuda/handles.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise::minibatch {

/// A recorded forward pass without its copies.
template <typename T>
class ResidentPrediction final : public Predictor<T> {
 public:
  /// @param network,stream see RecordedPrediction.
  ResidentPrediction(Network<T>& network, const cuda::Stream& stream);

  std::string name() const override { return "device"; }
  Index rows() const override { return features_.shape()[0]; }
  T* features() override { return features_.data(); }
  void take(const Dataset& dataset, std::span<const std::uint32_t> samples) override;
  bool is_on_device() const override { return true; }
  void predict(std::int32_t* classes) override;

 private:
  Network<T>* network_;
  const cuda::Stream* stream_;
  T* batch_ = nullptr;  ///< on the device
  Tensor<T> features_;
  std::optional<cuda::ExecutableGraph> graph_;
};

extern template class ResidentPrediction<float>;
extern template class ResidentPrediction<double>;

}  // namespace stagewise::minibatch

/// @file
/// Answers a large batch in parts: while one is computed, the next arrives.
#pragma once

#include <memory>
#include <optional>

#include "04_minibatch/data/host_data.hpp"
#include "cuda/handles.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise::minibatch {

/// The samples lie in pinned memory as the data set has them, images as bytes. As in training with
/// `--stream-batches`, kernels fetch them from there: see HostData. All parts are recorded in one
/// graph.
template <typename T>
class StreamedPrediction final : public Predictor<T> {
 public:
  /// @param network,stream see RecordedPrediction.
  StreamedPrediction(Network<T>& network, const cuda::Stream& stream);
  ~StreamedPrediction() override;
  StreamedPrediction(const StreamedPrediction&) = delete;
  StreamedPrediction& operator=(const StreamedPrediction&) = delete;

  std::string name() const override { return "streamed"; }
  Index rows() const override { return classes_.elements(); }
  T* features() override { return nullptr; }
  void take(const Dataset& dataset, std::span<const std::uint32_t> samples) override;
  void predict(std::int32_t* classes) override;

 private:
  void load(const Dataset& dataset);
  void enqueue();
  void enqueue_parts(Index first, Index rows, Index parts);

  Network<T>* network_;
  const cuda::Stream* stream_;
  const Dataset* dataset_ = nullptr;  ///< which has been loaded
  std::unique_ptr<HostData<T>> data_;
  Tensor<std::uint32_t> samples_;  ///< in pinned memory
  Tensor<std::int32_t> classes_;   ///< in pinned memory
  std::optional<cuda::ExecutableGraph> graph_;
};

extern template class StreamedPrediction<float>;
extern template class StreamedPrediction<double>;

}  // namespace stagewise::minibatch

/// @file
/// Answers a batch with one launch: the copy in, the forward pass and the copy out are recorded.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "04_minibatch/minibatch_executor.hpp"
#include "cuda/handles.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise::minibatch {

/// The eager path launches every operation anew and waits after each copy. Here, all of it is a
/// CUDA graph, which the host launches and waits for once. The recorded copies have fixed
/// addresses, so both ends have a pinned buffer of their own.
template <typename T>
class RecordedPrediction final : public Predictor<T> {
 public:
  /// @param network must outlive this; its largest batch is the one that is answered. Its
  ///        parameters may change between batches.
  /// @param stream that of its executor.
  RecordedPrediction(Network<T>& network, const cuda::Stream& stream);

  std::string name() const override { return "captured"; }
  Index rows() const override { return classes_.elements(); }
  T* features() override { return features_.data(); }
  void predict(std::int32_t* classes) override;

 private:
  const cuda::Stream* stream_;
  Tensor<T> features_;
  Tensor<std::int32_t> classes_;
  std::optional<cuda::ExecutableGraph> graph_;
};

extern template class RecordedPrediction<float>;
extern template class RecordedPrediction<double>;

/// The stage's own way to answer batches, for `evaluate --latency`.
/// @param network its executor must be a MinibatchExecutor.
template <typename T>
std::vector<std::unique_ptr<Predictor<T>>> make_predictors(Network<T>& network) {
  const cuda::Stream& stream = static_cast<MinibatchExecutor<T>&>(*network.executor).main_stream();
  std::vector<std::unique_ptr<Predictor<T>>> predictors;
  predictors.push_back(std::make_unique<RecordedPrediction<T>>(network, stream));
  return predictors;
}

}  // namespace stagewise::minibatch

/// @file
/// Answers a batch with one launch: copy in, forward and copy out are recorded once.
#pragma once

#include <optional>

#include "cuda/handles.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise::minibatch {

/// The eager path asks for every operation anew and waits after each copy. Here all of it is a CUDA
/// graph: the host launches it, and waits once. The copies are part of the recording and know their
/// addresses, so both ends have a buffer of their own, pinned.
template <typename T>
class RecordedPrediction final : public Predictor<T> {
 public:
  /// @param network must outlive this, and its largest batch is the one that is answered. Its
  ///        parameters may change between batches.
  /// @param stream its executor's.
  RecordedPrediction(Network<T>& network, const cuda::Stream& stream);

  std::string name() const override { return "captured"; }
  Index rows() const override { return classes_.elements(); }
  T* features() override { return features_.data(); }
  void predict(std::int32_t* classes) override;

 private:
  void enqueue(Network<T>& network);

  const cuda::Stream* stream_;
  Tensor<T> features_;
  Tensor<std::int32_t> classes_;
  std::optional<cuda::ExecutableGraph> graph_;
};

extern template class RecordedPrediction<float>;
extern template class RecordedPrediction<double>;

}  // namespace stagewise::minibatch

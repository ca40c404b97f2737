/// @file
/// Answers one image at a time with a kernel that is already running.
#pragma once

#include <memory>
#include <optional>

#include "cuda/handles.hpp"
#include "ladders/persistent/latency/mailbox.hpp"
#include "ladders/persistent/latency/persistent_mlp.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise::minibatch {

/// Feeds a persistent kernel (persistent_mlp.cu) through host memory that both can access.
///
/// The kernel starts with the first image and ends with this object. While it runs, nothing may
/// wait for the whole GPU, as cudaFree() and cudaFreeHost() do: they would wait for its end. It
/// reads the parameters when it starts; to change them later, make a new object.
///
/// In a CPU build, a kernel runs to its end before its launch returns, or, with lazy streams, when
/// the host waits for it. There, the same kernel is launched for each image and ends after one
/// answer.
template <typename T>
class PersistentPrediction final : public Predictor<T> {
 public:
  /// @param mlp from plan_persistent_mlp(); what it points to must outlive this.
  explicit PersistentPrediction(const PersistentMlp<T>& mlp);

  /// Tells the kernel to stop and waits until it has ended.
  ~PersistentPrediction() override;
  PersistentPrediction(const PersistentPrediction&) = delete;
  PersistentPrediction& operator=(const PersistentPrediction&) = delete;

  std::string name() const override { return "persistent"; }
  Index rows() const override { return 1; }
  T* features() override { return features_.data(); }

  /// @throws Error if the kernel has failed.
  void predict(std::int32_t* classes) override;

 private:
  void launch_if_needed();
  void wait_for_answer();

  PersistentMlp<T> mlp_;
  Tensor<T> features_;
  cuda::Stream stream_;
  Mailbox<T> mail_;
  std::uint32_t request_ = no_request;  ///< the latest one
  bool is_running_ = false;
};

/// The arguments of the persistent kernel for this network, except the mailbox.
/// @return none unless the network is built for batches of one, is a chain of at most
///         max_persistent_layers Linear layers, and its widest input fits into shared memory.
template <typename T>
std::optional<PersistentMlp<T>> plan_persistent_mlp(Network<T>& network);

/// @param network must outlive the result.
/// @return null if there is no plan, if CUDA_LAUNCH_BLOCKING is set, or while another one is
///         running: there is only one at a time.
template <typename T>
std::unique_ptr<PersistentPrediction<T>> make_persistent_prediction(Network<T>& network);

extern template class PersistentPrediction<float>;
extern template class PersistentPrediction<double>;

}  // namespace stagewise::minibatch

/// @file
/// Answers one image at a time through a kernel that is there already.
#pragma once

#include <memory>
#include <optional>

#include "cuda/handles.hpp"
#include "latency/mailbox.hpp"
#include "latency/persistent_mlp.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise::minibatch {

/// Feeds a kernel that stays on the GPU (persistent_mlp.cu) through memory of the host that both
/// see.
///
/// The kernel starts with the first image and ends with this object. While it runs, nothing may
/// wait for the whole GPU, as cudaFree() and cudaFreeHost() do: they would wait for its end. It
/// reads the parameters when it starts; whoever changes them later makes a new object.
///
/// In a CPU build a kernel runs to its end before its launch returns, or, with lazy streams, when
/// the host asks for it. There the same kernel is launched for each image and told to answer one.
template <typename T>
class PersistentPrediction final : public Predictor<T> {
 public:
  /// @param mlp of plan_persistent_mlp(); what it points to must outlive this.
  explicit PersistentPrediction(const PersistentMlp<T>& mlp);

  /// Tells the kernel to stop and waits until it has.
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
  std::uint32_t request_ = no_request;  ///< the latest
  bool is_running_ = false;
};

/// What a kernel that stays is told of this network, but for the mail.
/// @return none unless the network is built for batches of one, is a chain of at most
///         max_persistent_layers Linear layers, and its widest input fits into shared memory.
template <typename T>
std::optional<PersistentMlp<T>> plan_persistent_mlp(Network<T>& network);

/// @param network must outlive what is returned.
/// @return null where there is no plan, where CUDA_LAUNCH_BLOCKING is set, or while another one is
///         answering: there is one at a time.
template <typename T>
std::unique_ptr<PersistentPrediction<T>> make_persistent_prediction(Network<T>& network);

extern template class PersistentPrediction<float>;
extern template class PersistentPrediction<double>;

}  // namespace stagewise::minibatch

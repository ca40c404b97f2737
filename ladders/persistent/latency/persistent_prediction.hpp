/// @file
/// Answers one image at a time with a kernel that is already running: the host's end of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "cuda/memory.hpp"
#include "ladders/persistent/latency/persistent_mlp.hpp"
#include "training/network.hpp"
#include "training/predictor.hpp"

namespace stagewise::minibatch {

/// Owns the words that a persistent kernel reads and writes. The host's part of them is pinned, and
/// the GPU accesses pinned memory through the same pointer.
template <typename T>
class Mailbox {
 public:
  /// Stores its addresses in `mlp`.
  /// @param stream the one in which the kernel will be launched.
  Mailbox(PersistentMlp<T>& mlp, const cuda::Stream& stream)
      : mailbox_({words_of_input(mlp, 0)}, cuda::pinned_memory()), answer_({1}, cuda::pinned_memory()) {
    mlp.mailbox = mlp.layers[0].input = mailbox_.data();
    mlp.answer = answer_.data();
    // Earlier contents must not look like a message.
    std::fill_n(mailbox_.data(), mailbox_.elements(), make_word(no_request, 0));
    std::fill_n(answer_.data(), 1, make_word(no_request, 0));
    if (mlp.layer_count == 1) return;  // block 0 reads the mailbox
    Index words = 0;
    for (int l = 0; l < mlp.layer_count; ++l) words += words_of_input(mlp, l);
    between_blocks_ = Tensor<Word>({words}, cuda::device_memory());
    Word* begin = between_blocks_.data();
    for (int l = 0; l < mlp.layer_count; ++l) {
      mlp.layers[l].input = begin;
      begin += words_of_input(mlp, l);
    }
    CUDA_CHECK(
        cudaMemsetAsync(between_blocks_.data(), 0, static_cast<std::size_t>(words) * sizeof(Word), stream.get()));
  }

  /// Sends a request: the features of one sample. The previous one must have been answered.
  void post(std::uint32_t request, const T* features) {
    Word* to = mailbox_.data();
    for (Index i = 0; i < mailbox_.elements() / words_of<T>; ++i) {
      for (const Word word : make_message(request, features[i]).words) store(*to++, word);
    }
  }

  /// Ends the kernel, once the latest request has been answered.
  void post_stop() {
    for (Index i = 0; i < mailbox_.elements(); ++i) {
      store(mailbox_.data()[i], make_word(stop_request, 0));
    }
  }

  /// Whether this request's answer has arrived.
  bool is_answered(std::uint32_t request) const { return number_of(answer_word()) == request; }

  /// The class, once it has arrived.
  std::int32_t answer() const { return static_cast<std::int32_t>(data_of(answer_word())); }

 private:
  static Index words_of_input(const PersistentMlp<T>& mlp, int layer) {
    return Index{mlp.layers[layer].in} * words_of<T>;
  }

  static void store(Word& to, Word word) { std::atomic_ref(to).store(word, std::memory_order_relaxed); }

  Word answer_word() const { return std::atomic_ref(*answer_.data()).load(std::memory_order_relaxed); }

  Tensor<Word> mailbox_;         ///< in host memory: the kernel reads it
  mutable Tensor<Word> answer_;  ///< in host memory: the kernel writes it
  Tensor<Word> between_blocks_;  ///< in GPU memory: the layers' inputs, if there are hidden layers
};

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

}  // namespace stagewise::minibatch

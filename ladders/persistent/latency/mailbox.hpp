/// @file
/// The host's end of a persistent kernel: memory that both can access.
#pragma once

#include "cuda/handles.hpp"
#include "ladders/persistent/latency/persistent_mlp.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::minibatch {

/// Owns the words that a persistent kernel reads and writes. The host's part of them is pinned, and
/// the GPU accesses pinned memory through the same pointer.
template <typename T>
class Mailbox {
 public:
  /// Stores its addresses in `mlp`.
  /// @param stream the one in which the kernel will be launched.
  Mailbox(PersistentMlp<T>& mlp, const cuda::Stream& stream);

  /// Sends a request: the features of one sample. The previous one must have been answered.
  void post(std::uint32_t request, const T* features);

  /// Ends the kernel, once the latest request has been answered.
  void post_stop();

  /// Whether this request's answer has arrived.
  bool is_answered(std::uint32_t request) const;

  /// The class, once it has arrived.
  std::int32_t answer() const;

 private:
  Tensor<Word> mailbox_;         ///< in host memory: the kernel reads it
  mutable Tensor<Word> answer_;  ///< in host memory: the kernel writes it
  Tensor<Word> between_blocks_;  ///< in GPU memory: the layers' inputs, if there are hidden layers
};

extern template class Mailbox<float>;
extern template class Mailbox<double>;

}  // namespace stagewise::minibatch

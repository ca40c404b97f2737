/// @file
/// The host's end of a kernel that stays: memory that both see.
#pragma once

#include "cuda/handles.hpp"
#include "latency/persistent_mlp.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::minibatch {

/// Owns the words that a persistent kernel reads and writes. The host's part of them is pinned, and
/// a GPU reaches pinned memory by the same pointer.
template <typename T>
class Mailbox {
 public:
  /// Enters its addresses into `mlp`.
  /// @param stream in which the kernel is launched, later than this.
  Mailbox(PersistentMlp<T>& mlp, const cuda::Stream& stream);

  /// Sends a request: the features of one sample. The one before must have been answered.
  void post(std::uint32_t request, const T* features);

  /// Ends the kernel, once the latest request has been answered.
  void post_stop();

  /// Whether this request's answer has come.
  bool is_answered(std::uint32_t request) const;

  /// The class, once it has come.
  std::int32_t answer() const;

 private:
  Tensor<Word> mailbox_;         ///< of the host: the kernel reads it
  mutable Tensor<Word> answer_;  ///< of the host: the kernel writes it
  Tensor<Word> between_blocks_;  ///< of the GPU: each layer's input, if there are hidden ones
};

extern template class Mailbox<float>;
extern template class Mailbox<double>;

}  // namespace stagewise::minibatch

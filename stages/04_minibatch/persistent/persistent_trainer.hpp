/// @file
/// A persistent kernel with its plan and its mailbox.
#pragma once

#include "04_minibatch/persistent/persistent_mlp.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::minibatch {

/// Trains one network; call after call, the same mailbox serves.
template <typename T>
class PersistentTrainer {
 public:
  /// Allocates the mailbox.
  /// @param shape rows: of the largest batch.
  /// @throws Error if no persistent kernel fits onto the GPU, or the GPU has too little memory.
  explicit PersistentTrainer(const MlpShape& shape);

  /// Takes the steps; see train_persistently(). The stream may be another one only when all that
  /// was asked for before is done.
  void train(cudaStream_t stream, const PersistentMlp<T>& mlp);

 private:
  PersistentPlan plan_;
  Tensor<Word> mailbox_;
  std::uint32_t next_flag_ = 1;
};

}  // namespace stagewise::minibatch

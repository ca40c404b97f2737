/// @file
/// A persistent kernel with its plan and its mailbox.
#pragma once

#include "ladders/persistent/training/mlp_steps.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::minibatch::persistent {

/// Trains one network; call after call, the same mailbox serves.
template <typename T>
class Trainer {
 public:
  /// Allocates the mailbox.
  /// @param shape rows: of the largest batch.
  /// @throws Error if no persistent kernel fits onto the GPU, or the GPU has too little memory.
  explicit Trainer(const MlpShape& shape);

  /// Takes the steps; see train_steps(). The stream may be another one only when all that
  /// was asked for before is done.
  void train(cudaStream_t stream, const Mlp<T>& mlp);

 private:
  Plan plan_;
  Tensor<Word> mailbox_;
  std::uint32_t next_flag_ = 1;
};

}  // namespace stagewise::minibatch::persistent

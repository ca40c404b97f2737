/// @file
/// Many training steps of a small multilayer perceptron by one kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "04_minibatch/output_layer/output_layer.hpp"
#include "ladders/persistent/training/plan.hpp"
#include "network/problems.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::minibatch::persistent {

/// Steps of a network with one hidden layer, on a data set that is on the device. Pointers are to
/// device memory and not owned.
template <typename T>
struct Mlp {
  MlpShape shape;  ///< rows: of each batch, at most those of the plan
  Index steps = 0;

  const T* features = nullptr;           ///< [samples, in]
  const std::int32_t* labels = nullptr;  ///< [samples]
  const std::uint32_t* order = nullptr;  ///< [steps, rows]: the samples of each batch
  T* weight = nullptr;                   ///< [in, hidden]; all parameters are updated
  T* bias = nullptr;                     ///< [hidden]; null: no bias
  T* out_weight = nullptr;               ///< [hidden, out]
  T* out_bias = nullptr;                 ///< [out]; null: no bias

  Activation activation = Activation::relu;  ///< of the hidden layer
  LossProblem<T> loss;                       ///< of a batch, without pointers
  T learning_rate = 0;
  T l2 = 0;  ///< of the weights

  Totals* totals = nullptr;
  std::int64_t first_step = 1;                ///< number of the first step, for first_bad_step
  volatile std::int64_t* progress = nullptr;  ///< receives, for the host, the number of each step
                                              ///< that is done; null: not needed
};

/// A persistent kernel with its plan and its mailbox. Call after call, the same mailbox serves.
template <typename T>
class Trainer {
 public:
  /// Allocates the mailbox, and loads the kernel, so that its first launch need not.
  /// @throws Error if the GPU has too little memory.
  explicit Trainer(const Plan& plan);

  /// Takes the steps, one after another. The stream may be another one only when all that was asked
  /// for before is done.
  void train(cudaStream_t stream, const Mlp<T>& mlp);

 private:
  Plan plan_;
  Tensor<Word> mailbox_;
  std::uint32_t next_flag_ = 1;  ///< number of the next step in the words
};

}  // namespace stagewise::minibatch::persistent

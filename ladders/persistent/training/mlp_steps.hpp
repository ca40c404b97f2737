/// @file
/// Many training steps of a small multilayer perceptron by one kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "ladders/persistent/training/plan.hpp"
#include "network/problems.hpp"

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
  LossKind loss = LossKind::cross_entropy;
  Activation out_activation = Activation::none;
  bool has_threshold = false;  ///< as LossProblem has it
  T threshold = 0;
  T learning_rate = 0;
  T l2 = 0;  ///< of the weights

  Totals* totals = nullptr;
  std::int64_t first_step = 1;                ///< number of the first step, for first_bad_step
  volatile std::int64_t* progress = nullptr;  ///< receives, for the host, the number of each step
                                              ///< that is done; null: not needed
};

/// Loads the kernel of a plan, so that its first launch need not.
template <typename T>
void load_kernel(const Plan& plan);

/// Takes the steps, one after another. Its kernel must have been loaded.
/// @param mailbox plan.mailbox.size words of device memory: zero before the first call, and in
///        later ones as the call before left it.
/// @param first_flag the number of the first step in the words, and of those behind it the next
///        ones: none that was used with this mailbox before.
template <typename T>
void train_steps(cudaStream_t stream, const Mlp<T>& mlp, const Plan& plan, Word* mailbox,
                 std::uint32_t first_flag);

}  // namespace stagewise::minibatch::persistent

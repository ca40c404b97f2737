/// @file
/// The loss of a batch, its gradient, the predictions and the totals in one kernel.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::minibatch {

/// The outputs of a network in training, and the expected labels.
template <typename T>
struct LossProblem {
  Index rows = 0;
  Index batch_rows = 0;  ///< rows of the whole batch, over which the mean is taken
  Index classes = 0;
  LossKind loss = LossKind::cross_entropy;
  bool has_threshold = false;  ///< a single output means class 1 from `threshold` on
  T threshold = 0;             ///< without one, the largest output names the class
  const T* outputs = nullptr;  ///< [rows, classes]
  Activation activation = {};  ///< that computed the outputs
  const std::int32_t* labels = nullptr;
  const std::uint32_t* order = nullptr;  ///< row i has labels[order[i]]; null: labels[i]
  T* doutputs = nullptr;                 ///< the gradient of the mean loss, before the activation
};

/// The largest number of partials that loss() and output_layer() store.
Index max_partials();

/// Where the totals of a batch are added up.
struct TotalsProblem {
  const BlockPartial* partials = nullptr;
  Index count = 0;
  Totals* totals = nullptr;
  const std::int64_t* steps_before = nullptr;  ///< in device memory: steps before `step`
  std::int64_t step = 0;  ///< this step's number after those: for Totals::first_bad_step
};

/// Computes the gradient of the loss, and the block partials, each over some of the rows.
/// @param partials has room for max_partials().
/// @return the number of partials.
template <typename T>
Index loss(cudaStream_t stream, const LossProblem<T>& problem, BlockPartial* partials);

/// Adds a batch to the totals.
void add_to_totals(cudaStream_t stream, const TotalsProblem& problem);

}  // namespace stagewise::minibatch

/// @file
/// What a batch's outputs are worth: loss, gradient, predictions and totals at once.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::minibatch {

/// The end of a network in training: what comes out, and what should have.
template <typename T>
struct LossProblem {
  Index rows = 0;
  Index batch_rows = 0;  ///< of the batch that these rows are a part of: the mean is over so many
  Index classes = 0;
  LossKind loss = LossKind::cross_entropy;
  bool has_threshold = false;  ///< a single output names class 1 if it is at least that
  T threshold = 0;             ///< else the largest output names the class
  const T* outputs = nullptr;  ///< [rows, classes]
  Activation activation = {};  ///< what made the outputs
  const std::int32_t* labels = nullptr;
  Selection selection = {};  ///< of the labels
  T* doutputs = nullptr;     ///< the gradient of the mean loss, taken through the activation
};

/// How many partials loss() and output_layer() leave at most.
Index max_partials();

/// Where a batch is added up.
struct TotalsProblem {
  const BlockPartial* partials = nullptr;
  Index count = 0;
  Totals* totals = nullptr;
  const std::int64_t* steps_before = nullptr;  ///< in the device's memory: steps before `step`
  std::int64_t step = 0;  ///< number of this step behind those: for Totals::first_bad_step
};

/// Computes the gradient of the loss, and partials of some rows each.
/// @param partials room for max_partials().
/// @return how many there are.
template <typename T>
Index loss(cudaStream_t stream, const LossProblem<T>& problem, BlockPartial* partials);

/// Adds a batch to the totals.
void add_to_totals(cudaStream_t stream, const TotalsProblem& problem);

}  // namespace stagewise::minibatch

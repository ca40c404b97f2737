/// @file
/// What a batch's outputs are worth: loss, gradient, predictions and totals at once.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::minibatch {

/// Which loss; see Backend::softmax_cross_entropy() and Backend::squared_error().
enum class LossForm : std::uint8_t { softmax_cross_entropy, squared_error };

/// The end of a network in training: what comes out, and what should have.
template <typename T>
struct LossProblem {
  Index rows = 0;
  Index batch_rows = 0;  ///< of the batch that these rows are a part of; 0: they are all of it
  Index classes = 0;
  LossForm form = LossForm::softmax_cross_entropy;
  bool is_cut = false;         ///< a single output names class 1 if it is at least `cut`
  T cut = 0;                   ///< else the largest output names the class
  const T* outputs = nullptr;  ///< [rows, classes]
  Activation activation = {};  ///< what made the outputs
  const std::int32_t* labels = nullptr;
  Selection selection = {};  ///< of the labels
  T* doutputs = nullptr;     ///< the gradient of the mean loss, taken through the activation

  /// The loss whose gradient is computed is the mean over so many rows.
  __host__ __device__ Index mean_over() const { return batch_rows > 0 ? batch_rows : rows; }
};

/// Loss and number of right answers of some rows.
struct Score {
  double loss = 0;
  std::int64_t correct = 0;
};

/// How many scores loss() and output_layer() leave at most.
Index most_scores();

/// Where a batch is added up.
struct TotalsProblem {
  const Score* scores = nullptr;
  Index count = 0;
  Totals* totals = nullptr;
  const std::int64_t* steps_before = nullptr;  ///< in the device's memory: steps before `step`
  std::int64_t step = 0;  ///< number of this step behind those: for Totals::first_bad_step
};

/// Computes the gradient of the loss, and scores of some rows each.
/// @param scores room for most_scores().
/// @return how many there are.
template <typename T>
Index loss(cudaStream_t stream, const LossProblem<T>& problem, Score* scores);

/// Adds a batch to the totals.
void add_to_totals(cudaStream_t stream, const TotalsProblem& problem);

}  // namespace stagewise::minibatch

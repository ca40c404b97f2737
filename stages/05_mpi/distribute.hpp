/// @file
/// Stage 05's rewrites: a training for several processes.
#pragma once

#include <vector>

#include "04_minibatch/recorded_step.hpp"
#include "05_mpi/split_parameter.hpp"

namespace stagewise::mpi {

/// Data parallelism: this rank computes its part of every batch.
///
/// With Average::gradients, the gradients of one or several layers are a bucket: as soon as they
/// are complete, an all_reduce makes them the sum over the ranks, and in the end every rank makes
/// the same update. With Average::weights, the rank takes steps of its own; the mean is an
/// all_reduce, too.
/// @param part the rank, and how many there are.
/// @param overlaps whether a bucket leaves when it is complete; else all leave together.
StepPrograms distribute_data(const Model& model, const Sgd& sgd, Average average, const Part& part,
                             bool overlaps);

/// A network that is split over the ranks.
struct TensorPrograms {
  StepPrograms step;
  std::vector<SplitParameter> parameters;  ///< in the order of the model's
};

/// Tensor parallelism: each rank has some units of every other hidden layer of an mlp, for the
/// whole batch: their columns of the layer's weights, and the rows of the next layer's that they
/// feed. What the next layer gets from them is its part of every sum, and an all_reduce adds these
/// up.
/// @throws UsageError for what cannot be split; see check_splittable().
TensorPrograms distribute_tensor(const Model& model, const Sgd& sgd, const Part& part);

/// @throws UsageError unless the model is an mlp with a hidden layer, and each layer that is split
/// has
///         at least as many units as there are ranks.
void check_splittable(const ModelOptions& model, int ranks);

}  // namespace stagewise::mpi

/// @file
/// Stage 05's rewrites: training with several processes.
#pragma once

#include <vector>

#include "04_minibatch/recorded_step.hpp"
#include "05_mpi/split_parameter.hpp"

namespace stagewise::mpi {

/// Data parallelism: this rank computes its part of every batch.
///
/// With Average::gradients, the gradients of one or several layers form a bucket: as soon as they
/// are complete, an all_reduce sums them over the ranks, and at the end every rank makes the same
/// update. With Average::weights, each rank takes steps of its own; the mean is an all_reduce, too.
/// @param part this rank, and the number of ranks.
/// @param overlaps whether a bucket is sent when it is complete; otherwise all are sent together.
StepPrograms distribute_data(const Model& model, const Sgd& sgd, Average average, const Part& part,
                             bool overlaps);

/// A network that is split among the ranks.
struct TensorPrograms {
  StepPrograms step;
  std::vector<SplitParameter> parameters;  ///< in the model's order
};

/// Tensor parallelism: each rank has some units of every other hidden layer of an mlp, for the
/// whole batch: their columns of the layer's weights, and the rows of the next layer's weights that
/// they feed. Each rank thus computes a part of the next layer's sums, and an all_reduce adds up
/// the parts.
/// @throws UsageError for what cannot be split; see check_splittable().
TensorPrograms distribute_tensor(const Model& model, const Sgd& sgd, const Part& part);

/// @throws UsageError unless the model is an mlp with a hidden layer, and each layer that is split
/// has at least as many units as there are ranks.
void check_splittable(const ModelOptions& model, int ranks);

}  // namespace stagewise::mpi

/// @file
/// Stage 05's rewrites: training with several processes.
#pragma once

#include <string>
#include <vector>

#include "04_minibatch/recorded_step.hpp"
#include "network/split_parameter.hpp"

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
  std::vector<SplitParameter> parameters = {};  ///< in the model's order
};

/// Tensor parallelism: each rank has some units of every other hidden layer of an mlp, for the
/// whole batch: their columns of the layer's weights, and the rows of the next layer's weights that
/// they feed. Each rank thus computes a part of the next layer's sums, and an all_reduce adds up
/// the parts.
/// @throws UsageError for what cannot be split; see check_splittable().
///
/// Where several such groups of ranks share out the batch (hybrid parallelism), each trains on its
/// part of it, and buckets of gradients are added up as in distribute_data().
/// @param part this rank, and the number of ranks, of the group that has the whole network.
/// @param samples the part of the batch that the group has.
TensorPrograms distribute_tensor(const Model& model, const Sgd& sgd, const Part& part,
                                 const Part& samples = {}, bool overlaps = true);

/// Inserts sums of gradients over the data group after the lines that complete them, several in a
/// bucket.
/// @param gradients of the model's parameters, or of this rank's parts of them, in their order.
void insert_buckets(Program& program, const Model& model, const std::vector<ValueId>& gradients,
                    bool overlaps);

/// Fuses sums of gradients, and the updates that read them, into `all_reduce_update`. Updates that
/// need more than the gradient, such as momentum, stay.
Program fuse_sums_with_updates(const Program& program);

/// How training is divided among processes, seen by one of them.
struct Distribution {
  Part network = {};  ///< the part of the network that this rank has
  Part samples = {};  ///< the part of every batch that it trains on
  bool overlaps = true;
  bool sums_update = false;  ///< whether the transport's sums can update parameters
};

/// This rank's programs, all of stage 05's rewrites done: distribute_tensor() if the network is
/// split, else distribute_data(), then fuse_sums_with_updates(). Training and `info` call it; stage
/// 04's rewrites follow.
TensorPrograms distribute(const Model& model, const Sgd& sgd, Average average,
                          const Distribution& among);

/// @throws UsageError unless the model is an mlp with a hidden layer, and each layer that is split
/// has at least as many units as ranks share it.
/// @param strategy that asks for it.
void check_splittable(const ModelOptions& model, int ranks, const std::string& strategy = "tensor");

}  // namespace stagewise::mpi

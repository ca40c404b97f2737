/// @file
/// The network of stage 05's tensor parallelism: this rank's columns of an mlp.
#pragma once

#include <memory>
#include <vector>

#include "05_mpi/transport.hpp"
#include "network/model.hpp"
#include "network/workers.hpp"

namespace stagewise::mpi {

/// Refuses what cannot be split.
/// @throws UsageError unless the model is an mlp with one hidden layer, at least as wide as there
///         are ranks.
void check_splittable(const ModelOptions& model, int ranks);

/// Builds this rank's part of an mlp with one hidden layer of H units over N ranks.
///
/// Rank r has the hidden units of shard_of(H, N, r): their columns of fc1/weight and fc1/bias, and
/// the rows of fc2/weight that they feed. It computes its units from the whole batch, and from them
/// its part of every output; the sum of the parts over the ranks are the outputs. fc2/bias and what
/// follows are the same on every rank.
/// @param transport for batches of `max_rows` outputs; outlives the network.
template <typename T>
std::unique_ptr<Network<T>> build_split_mlp(Backend<T>& backend, const ModelOptions& model,
                                            Index max_rows, const Shard& units,
                                            Transport<T>& transport);

/// The part of the whole network's parameters that belongs to some hidden units.
std::vector<ParameterValues> split_parameters(const std::vector<ParameterValues>& whole,
                                              const Shard& units);

/// Puts the part of some hidden units into the whole network's parameters.
void merge_parameters(const std::vector<ParameterValues>& part, const Shard& units,
                      std::vector<ParameterValues>& whole);

}  // namespace stagewise::mpi

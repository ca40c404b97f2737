/// @file
/// What the processes share out: the batch, the network, or both; and how `--strategy auto`
/// chooses.
#pragma once

#include <string>

#include "cli/stage.hpp"

namespace stagewise::mpi {

/// Whether several ranks have a network together.
bool is_split(const StageOptions& values);

/// Whether `--strategy` is this one.
bool has_strategy(const StageOptions& values, const std::string& name);

/// Replaces `--strategy auto`: by tensor if the network can be split, nothing that belongs to data
/// parallelism is asked for, and no layer that is split has fewer units than a batch has samples;
/// else by data.
///
/// Tensor parallelism then sums fewer numbers, whatever the data set: beside a layer of h units, it
/// sums matrices of batch x n, and data parallelism weights of h x n.
void choose_strategy(StageOptions& values, const ModelOptions& model, const WorkerOptions& workers,
                     Index batch_size, int processes);

/// How many of these processes have a network together.
int tensor_ranks_of(const StageOptions& values, int processes);

/// "strategy hybrid with 2 ranks to a network".
std::string describe_strategy(const StageOptions& values, int processes);

}  // namespace stagewise::mpi

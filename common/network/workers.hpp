/// @file
/// Data parallelism as a rewrite: every worker has a copy of the lines for its shard of the batch
/// (report 003, section 2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/model.hpp"
#include "network/optimizer.hpp"

namespace stagewise {

/// What the workers exchange.
enum class Average : std::uint8_t {
  gradients,  ///< one set of parameters; every update follows the mean over the whole batch
  weights     ///< each worker has its own parameters, which are regularly replaced with their mean
};

/// How workers share a batch.
struct WorkerOptions {
  int workers = 1;
  Average average = Average::gradients;
  std::int64_t average_every = 1;  ///< steps from one mean of the weights to the next
};

/// The programs of a training run. All have the same values.
struct TrainingPrograms {
  Program step;
  Program mean;                               ///< sets the model's parameters to the workers' mean; empty if not needed
  Program take_over;                          ///< the same, and all workers continue from the mean
  std::vector<std::vector<ValueId>> workers;  ///< each worker's parameters, if it has its own
  std::vector<ValueId> totals;                ///< each worker's
  Optimizer optimizer;                        ///< of all parameters that the step updates
};

/// How lines are copied.
struct CopyOptions {
  Part part;
  std::string whose;            ///< suffix of the names: "@0" for worker 0
  bool has_parameters = false;  ///< whether the copy has parameters of its own
  bool has_samples = false;     ///< whether it has its own data set
};

/// Appends a copy of all lines of a program, with its own values for everything except data set and
/// parameters.
/// @param to has all values of `from`.
/// @return for each value of `from`, the value in the copy.
std::vector<ValueId> append_copy(Program& to, const Program& from, const CopyOptions& options);

/// The copy of a value.
inline ValueId pick(const std::vector<ValueId>& copies, ValueId value) {
  return copies[static_cast<std::size_t>(value.index)];
}

/// The copies of some values.
/// @param copies as append_copy() returns them, or gradients by value.
std::vector<ValueId> pick(const std::vector<ValueId>& copies, const std::vector<ValueId>& values);

/// A training step: forward, backward, update.
///
/// With Average::gradients, each worker computes its shard's part of the gradient of the mean over
/// the whole batch, so that the sum over the workers is that gradient, however unequal the shards
/// are. With Average::weights, each worker takes its own step; a worker whose shard is empty takes
/// none.
TrainingPrograms build_training(const Model& model, const Sgd& sgd, const WorkerOptions& options);

}  // namespace stagewise

/// @file
/// The options of stage 05 on the command line: what they mean, and which exclude one another.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "05_mpi/distribute.hpp"
#include "cli/stage.hpp"
#include "mpi/devices.hpp"
#include "mpi/world.hpp"

namespace stagewise::mpi {

/// @throws UsageError for options with which this stage cannot train.
void check_options(const World& world, const Placement& placement, const StageOptions& values,
                   const ModelOptions& model, const WorkerOptions& workers);

/// See Stage::why_idle: some options need several processes, others a certain strategy.
std::string why_idle(const World& world, const std::string& option, const StageOptions& values,
                     const ModelOptions& model, const WorkerOptions& workers, const Sgd& sgd);

/// The part of rank 0 of these processes, or of as many as the strategy needs: two, or two networks
/// with hybrid.
/// @throws UsageError if the model cannot be split.
Distribution distribution_of_first(const StageOptions& values, const ModelOptions& model,
                                   int processes, const std::string& transport);

/// Unset for auto; see DistributedStepOptions.
std::optional<bool> overlaps(const StageOptions& values);

/// How long a rank waits for another.
std::chrono::seconds patience_of(const StageOptions& values);

}  // namespace stagewise::mpi

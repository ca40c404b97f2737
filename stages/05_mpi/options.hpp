/// @file
/// The options of stage 05 on the command line: what they mean, and which exclude one another.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "05_mpi/distribute.hpp"
#include "app/stage.hpp"
#include "mpi/devices.hpp"
#include "mpi/heartbeat.hpp"
#include "mpi/mpi_ranks.hpp"
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

/// Who reads the data.
DataFrom data_from(const StageOptions& values);

/// Shows on a terminal how much of the data rank 0 has sent.
std::function<void(std::uint64_t, std::uint64_t)> show_sending();

/// How long a rank waits for another.
std::chrono::seconds patience_of(const StageOptions& values);

/// Ends all processes when one on this host has stopped.
/// @param program its name, for the message.
std::shared_ptr<Heartbeat> make_heartbeat(World& world, const std::string& program,
                                          std::chrono::seconds patience);

}  // namespace stagewise::mpi

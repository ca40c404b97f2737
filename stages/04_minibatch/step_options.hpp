/// @file
/// The options of stage 04's step on the command line.
#pragma once

#include <string>

#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/recorded_step.hpp"
#include "app/stage.hpp"

namespace stagewise {

/// As Stage::why_idle, for stage 04's options.
std::string why_idle_in_step(const std::string& option, const StageOptions& values,
                             const ModelOptions& model, const WorkerOptions& workers,
                             const Sgd& sgd);

/// What is fused, as `info --program` shows it.
minibatch::FuseOptions read_fuse_options(const StageOptions& values);

/// The options that were chosen.
/// @param timings whether every operation is timed.
RecordedStepOptions read_step_options(const StageOptions& values, bool timings);

}  // namespace stagewise

/// @file
/// The options of stage 04's step on the command line.
#pragma once

#include <memory>
#include <string>

#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/recorded_step.hpp"
#include "cli/stage.hpp"

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

/// For InPrecision::rewrite.
template <typename T>
Program fuse_as_chosen(const Program& program, const StageOptions& values, Index max_rows) {
  return minibatch::fuse<T>(program, max_rows, read_fuse_options(values));
}

/// For InPrecision::make_step.
/// @param arguments the network's executor must be a MinibatchExecutor.
template <typename T>
std::unique_ptr<Step> make_recorded_step(const StepArguments<T>& arguments) {
  const StepSetup<T>& setup = arguments.setup;
  StepPrograms programs = step_programs(setup.network.model);
  programs.training = build_training(setup.network.model, arguments.sgd, setup.workers);
  return std::make_unique<RecordedStep<T>>(
      setup, static_cast<MinibatchExecutor<T>&>(*setup.network.executor), setup.training_set.size(),
      programs, arguments.starts, read_step_options(arguments.options, arguments.timings));
}

}  // namespace stagewise

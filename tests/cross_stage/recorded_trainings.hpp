/// @file
/// Trainings by stage 04's step, to compare others with.
#pragma once

#include <memory>

#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/recorded_step.hpp"
#include "cross_stage/trainings.hpp"

namespace stagewise::cross_stage {

/// The programs of stage 04's own training.
inline StepPrograms recorded_programs(const Model& model, const TrainingCase& one, const WorkerOptions& workers) {
  StepPrograms programs = step_programs(model);
  programs.training = build_training(model, one.options.sgd, workers);
  return programs;
}

/// What stage 04 makes of evaluation and prediction.
template <typename T>
Rewrite fusing(const TrainingCase& one, bool layers) {
  return [rows = one.options.batch_size, layers](const Program& program) {
    return minibatch::fuse<T>(program, rows, {.layers = layers});
  };
}

template <typename T>
Outcome train_recorded(const TrainingCase& one, const WorkerOptions& workers, const RecordedStepOptions& options = {}) {
  auto executor = std::make_unique<MinibatchExecutor<T>>();
  MinibatchExecutor<T>& known = *executor;
  const auto make_step = [&](Network<T>& network, const Starts& starts) -> std::unique_ptr<Step> {
    const StepSetup<T> setup = {network, one.data, workers, one.options.batch_size};
    return std::make_unique<RecordedStep<T>>(setup, known, one.data.size(),
                                             recorded_programs(network.model, one, workers), starts, options);
  };
  return train_case<T>(std::move(executor), one, workers, make_step, fusing<T>(one, options.fuse.layers));
}

}  // namespace stagewise::cross_stage

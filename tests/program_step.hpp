/// @file
/// The step of stages 01 to 03, made as their command line makes it.
#pragma once

#include <functional>
#include <memory>

#include "network/workers.hpp"
#include "training/parameters.hpp"
#include "training/step.hpp"
#include "training/trainer.hpp"

namespace stagewise {

/// What a stage makes of a program before it executes it.
using Rewrite = std::function<Program(const Program&)>;

inline Program unchanged(const Program& program) {
  return program;
}

/// @param network, training_set must outlive the step.
template <typename T>
std::unique_ptr<Step> make_program_step(Network<T>& network, const Dataset& training_set,
                                        const TrainingOptions& options, const Starts& starts,
                                        const WorkerOptions& workers = {},
                                        const Rewrite& rewrite = unchanged) {
  TrainingPrograms programs = build_training(network.model, options.sgd, workers);
  for (Program* const program : {&programs.step, &programs.mean, &programs.take_over}) {
    *program = rewrite(*program);
  }
  const StepSetup<T> setup = {network, training_set, workers, options.batch_size};
  return std::make_unique<ProgramStep<T>>(setup, std::move(programs), starts);
}

}  // namespace stagewise

/// @file
/// Whole trainings of a stage against stage 01's: same seed, same data, same options, and so the
/// same parameters to rounding.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "network/initialize.hpp"
#include "network/workers.hpp"
#include "training/parameters.hpp"
#include "training/step.hpp"
#include "training/trainer.hpp"

namespace stagewise::cross_stage {

/// What a stage makes of a program before it executes it.
using Rewrite = std::function<Program(const Program&)>;

inline Program unchanged(const Program& program) { return program; }

/// The step of stages 01 to 03, made as their command line makes it.
/// @param network, training_set must outlive the step.
template <typename T>
std::unique_ptr<Step> make_program_step(Network<T>& network, const Dataset& training_set,
                                        const TrainingOptions& options, const Starts& starts,
                                        const WorkerOptions& workers = {}, const Rewrite& rewrite = unchanged) {
  TrainingPrograms programs = build_training(network.model, options.sgd, workers);
  for (Program* const program : {&programs.step, &programs.mean, &programs.take_over}) {
    *program = rewrite(*program);
  }
  const StepSetup<T> setup = {network, training_set, workers, options.batch_size};
  return std::make_unique<ProgramStep<T>>(setup, std::move(programs), starts);
}

/// One training that every stage repeats.
struct TrainingCase {
  std::string name;
  ModelOptions model;
  TrainingOptions options;
  Dataset data;
};

/// mlp, cnn and neuron; every activation, loss and optimizer; batches that do not divide the data.
std::vector<TrainingCase> training_cases();

/// Those whose names begin like this, of two epochs each.
std::vector<TrainingCase> cases_named(const std::string& beginning);

/// Where a training arrives, and each worker of it that has parameters of its own.
struct Outcome {
  std::vector<EpochReport> epochs;
  std::vector<ParameterValues> parameters;
  Starts workers;
  std::vector<ParameterValues> optimizer;  ///< its state
};

class OutcomeRecorder final : public TrainingObserver {
 public:
  void on_step(std::int64_t /*epoch*/, Index /*samples*/) override {}
  void on_epoch(const EpochReport& report, std::int64_t /*steps*/,
                const std::vector<ParameterValues>& parameters) override {
    outcome.epochs.push_back(report);
    outcome.parameters = parameters;
  }
  Outcome outcome;
};

/// Where all workers start, or each, if each has parameters of its own.
Starts starts_of(const Model& model, const TrainingCase& one, const WorkerOptions& workers);

/// Runs a training with the step that `make_step(network, starts)` makes.
/// @param rewrite what the stage makes of evaluation and prediction.
template <typename T, typename MakeStep>
Outcome train_case(std::unique_ptr<Executor<T>> executor, const TrainingCase& one, const WorkerOptions& workers,
                   const MakeStep& make_step, const Rewrite& rewrite = unchanged) {
  Network<T> network(build_model(one.model), std::move(executor), rewrite);
  const std::unique_ptr<Step> step = make_step(network, starts_of(network.model, one, workers));
  network.load(one.options.batch_size);
  OutcomeRecorder recorder;
  // With a validation set, the network is used for something else between two epochs.
  train(network, *step, one.data, one.data.slice(0, 9), one.options, 1, recorder);
  recorder.outcome.workers = step->worker_parameters();
  recorder.outcome.optimizer = step->optimizer_state();
  return recorder.outcome;
}

/// Line by line, as stages 01 to 03 train.
template <typename T>
Outcome train_program(std::unique_ptr<Executor<T>> executor, const TrainingCase& one, const WorkerOptions& workers = {},
                      const Rewrite& rewrite = unchanged) {
  const auto make_step = [&](Network<T>& network, const Starts& starts) {
    return make_program_step(network, one.data, one.options, starts, workers, rewrite);
  };
  return train_case(std::move(executor), one, workers, make_step, rewrite);
}

/// Stage 01's.
template <typename T>
Outcome train_serially(const TrainingCase& one, const WorkerOptions& workers = {});

std::string name_of(const WorkerOptions& workers);

/// Expects every parameter and epoch, of every worker, within the bounds of the architecture, or
/// within one that fewer steps allow.
template <typename T>
void expect_same_outcome(const Outcome& actual, const Outcome& expected, const std::string& name,
                         double bound = std::is_same_v<T, float> ? 1e-4 : 1e-10);

/// Expects the same to the last bit; a NaN is not the same as itself.
void expect_same_bits(const Outcome& a, const Outcome& b, const std::string& name);

}  // namespace stagewise::cross_stage

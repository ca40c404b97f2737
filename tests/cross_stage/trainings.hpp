/// @file
/// Whole trainings of a stage against stage 01's: same seed, same data, same options, and so the
/// same parameters to rounding. Used like primitives.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/serial_executor.hpp"
#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "cross_stage/compared_stage.hpp"
#include "cross_stage/stage_types.hpp"
#include "data/generators.hpp"
#include "network/initialize.hpp"
#include "program_step.hpp"
#include "tensor/random.hpp"
#include "verify/compare.hpp"

namespace stagewise {
namespace cross_stage {

/// One training that every stage repeats.
struct TrainingCase {
  std::string name;
  ModelOptions model;
  TrainingOptions options;
  Dataset data;
};

/// Images of a few classes: a pattern each, and noise.
Dataset make_images(const Shape& shape, int classes, Index count);

/// mlp, cnn and neuron; every activation and loss; batches that do not divide the data.
std::vector<TrainingCase> training_cases();

/// What a training arrives at.
struct Outcome {
  std::vector<EpochReport> epochs;
  std::vector<ParameterValues> parameters;
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

/// Runs a training.
/// @param make_step makes the step for the network and where it starts.
/// @param rewrite what the stage makes of evaluation and prediction.
template <typename T, typename MakeStep>
Outcome train_case(std::unique_ptr<Executor<T>> executor, const TrainingCase& one,
                   const MakeStep& make_step, const Rewrite& rewrite = unchanged) {
  Network<T> network(build_model(one.model), std::move(executor), rewrite);
  const std::unique_ptr<Step> step =
      make_step(network, {initial_parameters(network.model, one.model, one.options.seed)});
  network.load(one.options.batch_size);
  OutcomeRecorder recorder;
  train(network, *step, one.data, Dataset(), one.options, 1, recorder);
  return recorder.outcome;
}

/// Line by line, as stages 01 to 03 train.
template <typename T>
Outcome train_program(std::unique_ptr<Executor<T>> executor, const TrainingCase& one,
                      const Rewrite& rewrite = unchanged) {
  const auto make_step = [&](Network<T>& network, const Starts& starts) {
    return make_program_step(network, one.data, one.options, starts, {}, rewrite);
  };
  return train_case(std::move(executor), one, make_step, rewrite);
}

/// Expects every parameter and epoch within the bounds of the architecture.
template <typename T>
void expect_same_outcome(const Outcome& actual, const Outcome& expected, const std::string& name);

/// Expects the cases whose name begins like this to train as on stage 02.
/// @param make_executor makes the one to compare.
template <typename T, typename Make>
void expect_stage_02(const Make& make_executor, const std::string& beginning,
                     const Rewrite& rewrite = unchanged) {
  int cases = 0;
  for (const TrainingCase& one : training_cases()) {
    if (!one.name.starts_with(beginning)) continue;
    ++cases;
    expect_same_outcome<T>(train_program<T>(make_executor(), one, rewrite),
                           train_program<T>(std::make_unique<NaiveCudaExecutor<T>>(), one),
                           one.name);
  }
  EXPECT_GT(cases, 0) << beginning;
}

}  // namespace cross_stage

/// Adds the tests "<name>/Trainings/float.EqualThoseOfStage01" and so on.
int register_trainings(const std::string& name, const ComparedStage<float>& in_float,
                       const ComparedStage<double>& in_double);

template <typename Maker>
int register_trainings(const std::string& name) {
  return register_trainings(name, compared_stage<Maker, float>(), compared_stage<Maker, double>());
}

}  // namespace stagewise

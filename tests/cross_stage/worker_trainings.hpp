/// @file
/// Trainings with workers, by stage 01 and by any step, to compare with each other.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cross_stage/trainings.hpp"

namespace stagewise::cross_stage {

/// Where a training arrives, and each worker of it.
struct Arrival {
  Outcome outcome;
  Starts workers;
};

/// Where all workers start, or each, if each has parameters of its own.
inline Starts starts_of(const Model& model, const TrainingCase& one, const WorkerOptions& workers) {
  const int count = workers.average == Average::weights ? workers.workers : 1;
  Starts starts;
  for (int worker = 0; worker < count; ++worker) {
    starts.push_back(
        initial_parameters(model, one.model, one.options.seed, static_cast<std::uint64_t>(worker)));
  }
  return starts;
}

/// Runs a training with the step that `make_step(network, starts)` makes.
/// @param rewrite what the stage makes of evaluation and prediction.
template <typename T, typename MakeStep>
Arrival train_workers(std::unique_ptr<Executor<T>> executor, const TrainingCase& one,
                      const WorkerOptions& workers, const MakeStep& make_step,
                      const Rewrite& rewrite = unchanged) {
  Network<T> network(build_model(one.model), std::move(executor), rewrite);
  const std::unique_ptr<Step> step = make_step(network, starts_of(network.model, one, workers));
  network.load(one.options.batch_size);
  OutcomeRecorder recorder;
  // With a validation set, the network is used for something else between two epochs.
  train(network, *step, one.data, one.data.slice(0, 9), one.options, 1, recorder);
  return {recorder.outcome, step->worker_parameters()};
}

/// Stage 01's.
template <typename T>
Arrival train_serially(const TrainingCase& one, const WorkerOptions& workers) {
  return train_workers<T>(std::make_unique<SerialExecutor<T>>(), one, workers,
                          [&](Network<T>& network, const Starts& starts) {
                            return make_program_step(network, one.data, one.options, starts,
                                                     workers);
                          });
}

inline std::string name_of(const WorkerOptions& workers) {
  return std::to_string(workers.workers) + " workers, " +
         (workers.average == Average::weights
              ? "weights every " + std::to_string(workers.average_every)
              : "gradients");
}

template <typename T>
void expect_same_arrival(const Arrival& actual, const Arrival& expected, const std::string& name) {
  expect_same_outcome<T>(actual.outcome, expected.outcome, name);
  const double bound = std::is_same_v<T, float> ? 1e-4 : 1e-10;
  ASSERT_EQ(actual.workers.size(), expected.workers.size()) << name;
  for (std::size_t i = 0; i < expected.workers.size(); ++i) {
    for (const Difference& difference :
         compare_parameters(actual.workers[i], expected.workers[i])) {
      EXPECT_TRUE(difference.within(bound)) << name << ", worker " << i << ": " << difference.name
                                            << " is " << difference.max_norm << " off";
    }
  }
}

inline void expect_same_values(const std::vector<ParameterValues>& a,
                               const std::vector<ParameterValues>& b, const std::string& name) {
  ASSERT_EQ(a.size(), b.size()) << name;
  ASSERT_FALSE(a.empty()) << name;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].values, b[i].values) << name << ", " << a[i].name;
  }
}

/// Expects the same to the last bit; a NaN is not the same as itself.
inline void expect_same_bits(const Arrival& a, const Arrival& b, const std::string& name) {
  expect_same_values(a.outcome.parameters, b.outcome.parameters, name);
  ASSERT_EQ(a.workers.size(), b.workers.size()) << name;
  for (std::size_t i = 0; i < a.workers.size(); ++i) {
    expect_same_values(a.workers[i], b.workers[i], name + ", worker " + std::to_string(i));
  }
  ASSERT_EQ(a.outcome.epochs.size(), b.outcome.epochs.size()) << name;
  for (std::size_t i = 0; i < a.outcome.epochs.size(); ++i) {
    EXPECT_EQ(a.outcome.epochs[i].train_loss, b.outcome.epochs[i].train_loss) << name;
    EXPECT_EQ(a.outcome.epochs[i].train_accuracy, b.outcome.epochs[i].train_accuracy) << name;
    EXPECT_EQ(a.outcome.epochs[i].validation_loss, b.outcome.epochs[i].validation_loss) << name;
  }
}

/// The trainings that every stage repeats whose names begin like this, of two epochs each.
inline std::vector<TrainingCase> cases_named(const std::string& beginning) {
  std::vector<TrainingCase> cases;
  for (TrainingCase& one : training_cases()) {
    if (!one.name.starts_with(beginning)) continue;
    one.options.epochs = 2;
    cases.push_back(std::move(one));
  }
  EXPECT_FALSE(cases.empty()) << beginning;
  return cases;
}

}  // namespace stagewise::cross_stage

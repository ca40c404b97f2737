/// @file
/// Trainings with workers, by stage 01 and stage 04, to compare others with.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "01_serial/serial_backend.hpp"
#include "04_minibatch/captured_step.hpp"
#include "cross_stage/trainings.hpp"
#include "training/worker_step.hpp"

namespace stagewise::cross_stage {

using Starts = std::vector<std::vector<ParameterValues>>;

/// Where a training arrives, and each worker of it.
struct Arrival {
  Outcome outcome;
  Starts workers;
};

/// Where each worker starts, if each has parameters of its own.
template <typename T>
Starts starts_of(Network<T>& network, const TrainingCase& one, const WorkerOptions& workers) {
  Starts starts;
  if (workers.average == Average::gradients) return starts;
  for (int worker = 0; worker < workers.workers; ++worker) {
    initialize_parameters(network, one.model, one.options.seed, static_cast<std::uint64_t>(worker));
    starts.push_back(copy_parameters_out(network.graph));
  }
  return starts;
}

/// Runs a training with the step that `make_step(network, starts)` makes.
template <typename T, typename MakeStep>
Arrival train_workers(Backend<T>& backend, const TrainingCase& one, const WorkerOptions& workers,
                      const MakeStep& make_step) {
  const auto network = build_model(backend, one.model, one.options.batch_size, GraphMode::training);
  const Starts starts = starts_of(*network, one, workers);
  initialize_parameters(*network, one.model, one.options.seed);
  const std::unique_ptr<Step> step = make_step(*network, starts);
  OutcomeRecorder recorder;
  // With a validation set, the network is used for something else between two epochs.
  train(*network, *step, one.data, one.data.slice(0, 9), one.options, 1, recorder);
  return {recorder.outcome, step->worker_parameters()};
}

template <typename T>
Arrival train_captured(const TrainingCase& one, const WorkerOptions& workers,
                       const CapturedStepOptions& options = {}) {
  MinibatchBackend<T> backend(options.fuses);
  return train_workers<T>(backend, one, workers,
                          [&](Network<T>& network, const Starts& starts) -> std::unique_ptr<Step> {
                            return std::make_unique<CapturedStep<T>>(network, backend, one.model,
                                                                     one.data, one.options.sgd,
                                                                     workers, starts, 0, options);
                          });
}

/// Stage 01's: a single worker is the eager step.
template <typename T>
Arrival train_serially(const TrainingCase& one, const WorkerOptions& workers) {
  SerialBackend<T> backend;
  return train_workers<T>(backend, one, workers,
                          [&](Network<T>& network, const Starts& starts) -> std::unique_ptr<Step> {
                            if (workers.workers == 1 && workers.average == Average::gradients) {
                              return std::make_unique<EagerStep<T>>(network, one.data,
                                                                    one.options.sgd);
                            }
                            return std::make_unique<WorkerStep<T>>(
                                network, one.data, one.options.sgd, workers, starts, 0);
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

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
inline Dataset make_images(const Shape& shape, int classes, Index count) {
  Random random(3);
  std::vector<double> patterns(static_cast<std::size_t>(classes * shape.elements()));
  for (double& value : patterns) value = random.uniform(0, 1);
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
    for (Index j = 0; j < shape.elements(); ++j) {
      const double pattern =
          patterns[static_cast<std::size_t>(labels.back() * shape.elements() + j)];
      pixels.push_back(static_cast<std::uint8_t>(150 * pattern + 100 * random.uniform(0, 1)));
    }
  }
  return {shape, classes, std::move(pixels), std::move(labels)};
}

/// mlp, cnn and neuron; every activation and loss; batches that do not divide the data.
inline std::vector<TrainingCase> training_cases() {
  const Dataset table =
      make_gaussian({.features = 11, .classes = 4, .spacing = 0.5}, 97, 1, Purpose::training_data);
  const Dataset step = make_step(150, 1, Purpose::training_data);
  const Dataset images = make_images({16, 16, 2}, 3, 23);
  const auto mlp = [&](std::vector<Index> hidden, Activation activation, LossKind loss) {
    return ModelOptions{.hidden = std::move(hidden), .activation = activation, .loss = loss};
  };
  const TrainingOptions options = {
      .batch_size = 10, .epochs = 3, .sgd = {.learning_rate = 0.1, .l2 = 0.001}, .seed = 7};
  TrainingOptions cnn_options = options;
  cnn_options.batch_size = 6;
  cnn_options.epochs = 2;
  cnn_options.sgd.learning_rate = 0.02;

  std::vector<TrainingCase> cases = {
      {"mlp_sigmoid", mlp({33, 7}, Activation::sigmoid, LossKind::cross_entropy), options, table},
      {"mlp_relu", mlp({20}, Activation::relu, LossKind::cross_entropy), options, table},
      {"mlp_squared_error", mlp({17}, Activation::sigmoid, LossKind::squared_error), options,
       table},
      {"mlp_no_hidden_layer", mlp({}, Activation::relu, LossKind::cross_entropy), options, table},
      {"neuron", {.name = "neuron"}, options, step},
      {"cnn", {.name = "cnn"}, cnn_options, images},
      {"cnn_without_biases", {.name = "cnn", .biases = false}, cnn_options, images}};
  for (TrainingCase& one : cases) {
    one.model.sample = one.data.sample_shape();
    one.model.classes = one.data.classes();
  }
  return cases;
}

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
void expect_same_outcome(const Outcome& actual, const Outcome& expected, const std::string& name) {
  const double bound = std::is_same_v<T, float> ? 1e-4 : 1e-10;
  ASSERT_EQ(actual.epochs.size(), expected.epochs.size()) << name;
  for (std::size_t i = 0; i < expected.epochs.size(); ++i) {
    EXPECT_NEAR(actual.epochs[i].train_loss, expected.epochs[i].train_loss,
                bound * expected.epochs[i].train_loss)
        << name << ", epoch " << i + 1;
    // A network that starts with all outputs at zero, but for rounding, predicts by rounding.
    if (i == 0) continue;
    EXPECT_EQ(actual.epochs[i].train_accuracy, expected.epochs[i].train_accuracy) << name;
  }
  for (const Difference& difference : compare_parameters(actual.parameters, expected.parameters)) {
    EXPECT_TRUE(difference.within(bound))
        << name << ": " << difference.name << " is " << difference.max_norm << " off";
  }
  ASSERT_FALSE(expected.parameters.empty());
}

}  // namespace cross_stage

template <typename S>
class Trainings : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TYPED_TEST_SUITE_P(Trainings);

TYPED_TEST_P(Trainings, EqualThoseOfStage01) {
  using T = typename TypeParam::T;
  for (const cross_stage::TrainingCase& one : cross_stage::training_cases()) {
    cross_stage::expect_same_outcome<T>(
        cross_stage::train_program<T>(TypeParam::Maker::template make<T>(), one),
        cross_stage::train_program<T>(std::make_unique<SerialExecutor<T>>(), one), one.name);
  }
}

TYPED_TEST_P(Trainings, RepeatThemselvesBitForBit) {
  using T = typename TypeParam::T;
  for (const cross_stage::TrainingCase& one : cross_stage::training_cases()) {
    if (one.name.ends_with("without_biases")) continue;  // long enough with the other
    const auto run = [&] {
      return cross_stage::train_program<T>(TypeParam::Maker::template make<T>(), one);
    };
    const cross_stage::Outcome first = run();
    const cross_stage::Outcome second = run();
    ASSERT_EQ(first.parameters.size(), second.parameters.size());
    for (std::size_t i = 0; i < first.parameters.size(); ++i) {
      EXPECT_EQ(first.parameters[i].values, second.parameters[i].values) << one.name;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(Trainings, EqualThoseOfStage01, RepeatThemselvesBitForBit);

}  // namespace stagewise

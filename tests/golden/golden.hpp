/// @file
/// A training whose every number PyTorch has computed beforehand (make_golden.py says how),
/// repeated on any stage's executor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/checkpoint.hpp"
#include "program_step.hpp"
#include "training/trainer.hpp"
#include "verify/compare.hpp"

namespace stagewise::golden {

/// The trainings there are, by the names of their files.
inline const std::vector<std::string>& case_names() {
  static const std::vector<std::string> names = {"relu_cross_entropy_l2",
                                                 "sigmoid_cross_entropy",
                                                 "sigmoid_squared_error",
                                                 "relu_squared_error_l2",
                                                 "no_hidden_layer_l2",
                                                 "neuron",
                                                 "momentum_l2",
                                                 "adam_l2",
                                                 "sgd_step",
                                                 "momentum_cosine",
                                                 "adam_warmup"};
  return names;
}

/// One of them: what to train on, from where, and where PyTorch arrived.
struct Case {
  ModelOptions model;
  TrainingOptions options;
  Dataset data;
  std::vector<ParameterValues> initial;
  std::vector<ParameterValues> expected;
  std::vector<double> expected_losses;

  /// Where workers have their own weights: what each starts from is in `initial`, and what it ends
  /// with here, under "1/fc1/weight", "2/fc1/weight", ...
  std::vector<ParameterValues> worker_ends;
  std::int64_t average_every = 1;
};

/// Reads the file that make_golden.py wrote.
inline Case load(const std::string& name) {
  const std::filesystem::path folder = STAGEWISE_GOLDEN_DIR;
  const Checkpoint file = load_checkpoint(folder / (name + ".h5"));
  const auto number = [&](const char* key) { return std::stod(file.settings.at(key)); };
  Case result;

  std::vector<double> x;
  std::vector<std::int32_t> labels;
  for (const ParameterValues& stored : file.parameters) {
    ParameterValues parameter = stored;
    parameter.name = stored.name.substr(stored.name.find('/') + 1);
    if (stored.name == "data/x") {
      x = stored.values;
      for (int i = stored.shape.rank() - 1; i > 0; --i) {
        result.model.sample = i == stored.shape.rank() - 1
                                  ? Shape{stored.shape[i]}
                                  : result.model.sample.batched(stored.shape[i]);
      }
    } else if (stored.name == "data/labels") {
      labels.assign(stored.values.size(), 0);
      std::transform(stored.values.begin(), stored.values.end(), labels.begin(),
                     [](double value) { return static_cast<std::int32_t>(value); });
    } else if (stored.name == "expected/losses") {
      result.expected_losses = stored.values;
    } else if (stored.name.starts_with("initial/") || stored.name.starts_with("start/")) {
      result.initial.push_back(parameter);
    } else if (stored.name.starts_with("end/")) {
      result.worker_ends.push_back(parameter);
    } else {
      result.expected.push_back(parameter);
    }
  }

  result.model.name = file.model;
  result.model.hidden.clear();
  std::istringstream hidden(file.settings.at("hidden"));
  for (std::string width; std::getline(hidden, width, ',');) {
    result.model.hidden.push_back(std::stoi(width));
  }
  result.model.activation = parse_activation(file.settings.at("activation"));
  result.model.loss = parse_loss(file.settings.at("loss"));
  result.model.classes = std::stoi(file.settings.at("classes"));
  result.data = Dataset(result.model.sample, result.model.classes, x, labels);

  result.options.batch_size = std::stoi(file.settings.at("batch-size"));
  result.options.epochs = file.epoch;
  Sgd& sgd = result.options.sgd;
  sgd = {.learning_rate = number("learning-rate"), .l2 = number("l2")};
  if (file.settings.contains("optimizer")) {
    const std::string rule = file.settings.at("optimizer");
    const std::string decay = file.settings.at("schedule");
    sgd.rule = rule == "adam" ? Rule::adam : rule == "momentum" ? Rule::momentum : Rule::sgd;
    sgd.momentum = number("momentum");
    sgd.beta1 = number("beta1");
    sgd.beta2 = number("beta2");
    sgd.epsilon = number("epsilon");
    sgd.schedule = {.decay = decay == "cosine" ? Decay::cosine
                             : decay == "step" ? Decay::step
                                               : Decay::constant,
                    .warmup = std::stoi(file.settings.at("warmup")),
                    .steps = file.step};
  }
  result.options.shuffle = false;
  if (file.settings.contains("average-every")) {
    result.average_every = std::stoi(file.settings.at("average-every"));
  }
  return result;
}

/// What a training of ours arrived at.
struct Outcome {
  std::vector<double> losses;
  std::vector<ParameterValues> parameters;
};

/// Repeats the training with this step.
inline Outcome train_with(Network<double>& network, Step& step, const Case& golden) {
  class Recorder final : public TrainingObserver {
   public:
    void on_step(std::int64_t /*epoch*/, Index /*samples*/) override {}
    void on_epoch(const EpochReport& report, std::int64_t /*steps*/,
                  const std::vector<ParameterValues>& parameters) override {
      outcome.losses.push_back(report.train_loss);
      outcome.parameters = parameters;
    }
    Outcome outcome;
  };

  Recorder recorder;
  train(network, step, golden.data, Dataset(), golden.options, 1, recorder);
  return recorder.outcome;
}

/// Makes the step under test for a network and the training of the case.
using MakeStep = std::function<std::unique_ptr<Step>(Network<double>&, const Case&)>;

/// The step of stages 01 to 03.
inline std::unique_ptr<Step> make_step(Network<double>& network, const Case& golden) {
  return make_program_step(network, golden.data, golden.options, {golden.initial});
}

/// Repeats the training on an executor.
inline Outcome train_on(std::unique_ptr<Executor<double>> executor, const Case& golden,
                        const MakeStep& make_the_step = make_step) {
  Network<double> network(build_model(golden.model), std::move(executor));
  network.load(golden.options.batch_size);
  return train_with(network, *make_the_step(network, golden), golden);
}

/// How far the outcome is from PyTorch's: the largest relative difference of any parameter (max
/// norm) or epoch loss. NaN if anything is not finite, infinite if an epoch is missing.
inline double distance(const Outcome& outcome, const Case& golden) {
  if (outcome.losses.size() != golden.expected_losses.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double largest = largest_difference(compare_parameters(outcome.parameters, golden.expected));
  for (std::size_t i = 0; i < outcome.losses.size() && !std::isnan(largest); ++i) {
    const double expected = golden.expected_losses[i];
    const double apart = std::abs(outcome.losses[i] - expected) / std::abs(expected);
    if (!(apart <= largest)) largest = apart;  // this way round a NaN gets in
  }
  return largest;
}

/// The bound of the comparison: rounding in double, added up over a short training.
inline constexpr double bound = 1e-10;

/// The test that every stage has to pass: trained on its executor, the network arrives at PyTorch's
/// losses and parameters.
inline void expect_equals_pytorch(std::unique_ptr<Executor<double>> executor,
                                  const std::string& case_name,
                                  const MakeStep& make_the_step = make_step) {
  const Case expected = load(case_name);
  const Outcome outcome = train_on(std::move(executor), expected, make_the_step);

  ASSERT_EQ(outcome.losses.size(), expected.expected_losses.size());
  for (std::size_t i = 0; i < outcome.losses.size(); ++i) {
    EXPECT_NEAR(outcome.losses[i], expected.expected_losses[i], bound * expected.expected_losses[i])
        << "the loss of epoch " << i + 1;
  }
  for (const Difference& difference : compare_parameters(outcome.parameters, expected.expected)) {
    EXPECT_TRUE(difference.within(bound))
        << difference.name << " is " << difference.max_norm << " off: " << difference.a
        << " instead of " << difference.b << " at element " << difference.worst;
  }
  EXPECT_LE(distance(outcome, expected), bound);
}

}  // namespace stagewise::golden

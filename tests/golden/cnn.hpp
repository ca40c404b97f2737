/// @file
/// Three steps of the convolutional network that PyTorch has taken beforehand (make_golden.py says
/// how), repeated on any stage's executor. Its parameters would fill a large file: they start from
/// numbers that both sides compute, and are compared by their summaries.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "golden/golden.hpp"
#include "io/checkpoint.hpp"
#include "network/differentiate.hpp"
#include "program_step.hpp"

namespace stagewise::golden {

/// The trainings there are, by the names of their files.
inline const std::vector<std::string>& cnn_case_names() {
  static const std::vector<std::string> names = {"cnn_with_biases", "cnn_without_biases"};
  return names;
}

/// uniform() of make_golden.py: numbers in (-1, 1), the same to the last bit on any machine.
inline std::vector<double> lehmer_uniform(std::uint32_t seed, Index count) {
  std::minstd_rand random(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = 2 * (static_cast<double>(random()) / 2147483647) - 1;
  return values;
}

/// summary() of make_golden.py: length, scalar product with known numbers, some elements.
inline std::vector<double> summary(std::uint32_t number, const std::vector<double>& values,
                                   std::size_t length) {
  const auto weights = lehmer_uniform(300 + number, static_cast<Index>(values.size()));
  std::vector<double> result = {
      std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0)),
      std::inner_product(values.begin(), values.end(), weights.begin(), 0.0)};
  std::minstd_rand random(200 + number);
  while (result.size() < length) result.push_back(values[random() % values.size()]);
  return result;
}

/// Where PyTorch and we are after the training: by name, the summary of each gradient of the first
/// step and each parameter after the last, and the losses of the steps.
using Summaries = std::map<std::string, std::vector<double>>;

/// How far they are apart: the largest difference relative to the length of what is summarized, to
/// the loss itself for losses. Infinite if anything is missing or not finite.
inline double distance(const Summaries& actual, const Summaries& expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (actual.size() != expected.size()) return infinity;
  double largest = 0;
  for (const auto& [name, values] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end() || found->second.size() != values.size()) return infinity;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double scale = std::abs(name == "expected/losses" ? values[i] : values.front());
      const double apart = std::abs(found->second[i] - values[i]) / scale;
      if (!(apart <= largest)) largest = std::isnan(apart) ? infinity : apart;
    }
  }
  return largest;
}

/// One of the trainings, for a network of ours.
class CnnCase {
 public:
  explicit CnnCase(const std::string& name)
      : file_(load_checkpoint(std::filesystem::path(STAGEWISE_GOLDEN_DIR) / (name + ".h5"))) {
    std::vector<std::int32_t> labels;
    for (const ParameterValues& stored : file_.parameters) {
      if (stored.name == "data/labels") {
        for (const double label : stored.values) labels.push_back(static_cast<std::int32_t>(label));
      } else {
        expected_[stored.name] = stored.values;
      }
    }
    model_ = {.name = file_.model,
              .biases = file_.settings.at("biases") == "on",
              .sample = {number("height"), number("width"), number("channels")},
              .classes = static_cast<int>(number("classes"))};
    const auto count = static_cast<Index>(labels.size());
    data_ = Dataset(model_.sample, model_.classes,
                    lehmer_uniform(100, count * model_.sample.elements()), labels);
  }

  const Summaries& expected() const { return expected_; }

  /// Repeats the training on an executor.
  /// @param rewrite what the stage makes of the step; it must leave the gradients in their values.
  Summaries train_on(std::unique_ptr<Executor<double>> executor,
                     const Rewrite& rewrite = unchanged) const {
    const TrainingOptions options = {
        .batch_size = number("batch-size"),
        .sgd = {.learning_rate = std::stod(file_.settings.at("learning-rate")),
                .l2 = std::stod(file_.settings.at("l2"))}};
    Network<double> network(build_model(model_), std::move(executor));
    const auto step = make_program_step(network, data_, options,
                                        {starting_parameters(network.model)}, {}, rewrite);
    const Differentiated differentiated =
        differentiate(network.model.program, network.model.row_losses);
    std::vector<ValueId> gradients;
    for (const ValueId id : network.model.parameters) {
      gradients.push_back(differentiated.gradient_of(id));
    }
    std::vector<std::uint32_t> order(static_cast<std::size_t>(data_.size()));
    std::iota(order.begin(), order.end(), 0U);

    Summaries result;
    for (Index first = 0; first < data_.size(); first += options.batch_size) {
      step->begin_epoch(order);  // an epoch a step: its totals are then the step's own
      step->run(first, options.batch_size);
      result["expected/losses"].push_back(step->totals().loss /
                                          static_cast<double>(options.batch_size));
      if (first == 0) summarize(copy_parameters_out(network, gradients), "gradient/", result);
    }
    summarize(copy_parameters_out(network), "expected/", result);
    return result;
  }

 private:
  Index number(const std::string& setting) const { return std::stoi(file_.settings.at(setting)); }

  /// The numbers that PyTorch started from, too.
  static std::vector<ParameterValues> starting_parameters(const Model& model) {
    std::vector<ParameterValues> start;
    for (const ValueId id : model.parameters) {
      const auto& [name, shape] = std::tie(model[id].name, model[id].shape);
      const Index inputs = shape.elements() / shape[shape.rank() - 1];
      const double limit =
          name.ends_with("bias") ? 0.1 : std::sqrt(6 / static_cast<double>(inputs));
      start.push_back({name, shape, {}});
      const auto number = static_cast<std::uint32_t>(start.size());
      start.back().values = lehmer_uniform(number, shape.elements());
      for (double& value : start.back().values) value *= limit;
    }
    return start;
  }

  void summarize(const std::vector<ParameterValues>& all, const std::string& prefix,
                 Summaries& result) const {
    std::uint32_t count = 0;
    for (const ParameterValues& one : all) {
      const std::string name = prefix + one.name;
      result[name] = summary(++count, one.values, expected_.at(name).size());
    }
  }

  Checkpoint file_;
  Summaries expected_;
  ModelOptions model_;
  Dataset data_;
};

/// The test that every stage has to pass.
inline void expect_cnn_equals_pytorch(std::unique_ptr<Executor<double>> executor,
                                      const std::string& case_name,
                                      const Rewrite& rewrite = unchanged) {
  const CnnCase golden(case_name);
  const Summaries actual = golden.train_on(std::move(executor), rewrite);
  for (const auto& [name, values] : golden.expected()) {
    ASSERT_TRUE(actual.contains(name)) << name;
    EXPECT_LE(distance(Summaries{{name, actual.at(name)}}, Summaries{{name, values}}), bound)
        << name;
  }
  EXPECT_LE(distance(actual, golden.expected()), bound);
}

}  // namespace stagewise::golden

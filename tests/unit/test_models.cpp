#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "network/initialize.hpp"
#include "network/model.hpp"
#include "support.hpp"
#include "training/parameters.hpp"
#include "unit/observed_executor.hpp"

namespace stagewise {
namespace {

ModelOptions mlp(const std::vector<Index>& hidden) {
  return {.name = "mlp", .hidden = hidden, .sample = {4, 3, 2}, .classes = 10};
}

const ModelOptions neuron = {.name = "neuron", .sample = {3}, .classes = 2};

using NameAndShape = std::pair<std::string, Shape>;

std::vector<NameAndShape> parameters_of(const ModelOptions& options) {
  const Model model = build_model(options);
  std::vector<NameAndShape> result;
  for (const ValueId id : model.parameters) result.emplace_back(model[id].name, model[id].shape);
  return result;
}

/// All starting values of a model, parameter by parameter.
template <typename T>
std::vector<std::vector<T>> starting_values(const ModelOptions& options, std::uint64_t seed = 1,
                                            std::uint64_t worker = 0) {
  Network<T> network = make_network<T>(options, 5);
  const Model& model = network.model;
  copy_parameters_in(network, initial_parameters(model, options, seed, worker), "the start");
  std::vector<std::vector<T>> result;
  for (const ValueId id : model.parameters) {
    const T* const there = network.executor->data(id);
    result.emplace_back(there, there + model[id].shape.elements());
  }
  return result;
}

TEST(Models, HaveTheDocumentedParameters) {
  const std::vector<NameAndShape> none = {{"fc1/weight", {24, 10}}, {"fc1/bias", {10}}};
  EXPECT_EQ(parameters_of(mlp({})), none);
  const std::vector<NameAndShape> three = {{"fc1/weight", {24, 7}},  {"fc1/bias", {7}},       {"fc2/weight", {7, 5}},
                                           {"fc2/bias", {5}},        {"fc3/weight", {5, 11}}, {"fc3/bias", {11}},
                                           {"fc4/weight", {11, 10}}, {"fc4/bias", {10}}};
  EXPECT_EQ(parameters_of(mlp({7, 5, 11})), three);
  const std::vector<NameAndShape> one_unit = {{"fc1/weight", {3, 1}}, {"fc1/bias", {1}}};
  EXPECT_EQ(parameters_of(neuron), one_unit);
}

TEST(Models, StartInFloatIsTheRoundedStartInDouble) {
  const auto in_float = starting_values<float>(mlp({7, 5}));
  const auto in_double = starting_values<double>(mlp({7, 5}));
  ASSERT_EQ(in_float.size(), in_double.size());
  for (std::size_t i = 0; i < in_double.size(); ++i) {
    EXPECT_EQ(in_float[i], std::vector<float>(in_double[i].begin(), in_double[i].end()));
  }
}

TEST(Models, StartOfALayerDoesNotDependOnTheLayersBehindIt) {
  EXPECT_EQ(starting_values<double>(mlp({7, 5, 3}))[0], starting_values<double>(mlp({7, 9}))[0]);
}

TEST(Models, SeedsAndWorkersStartElsewhere) {
  const auto start = [](std::uint64_t seed, std::uint64_t worker) {
    return starting_values<double>(mlp({7}), seed, worker);
  };
  EXPECT_EQ(start(1, 0), start(1, 0));
  for (const std::size_t weight : {0, 2}) {
    EXPECT_NE(start(1, 0)[weight], start(2, 0)[weight]);
    EXPECT_NE(start(1, 0)[weight], start(1, 1)[weight]);
    EXPECT_NE(start(2, 0)[weight], start(1, 1)[weight]);
  }
}

/// Expects values uniform in +-limit: none beyond, some close to both ends, a mean near 0.
void expect_fills(const std::vector<double>& values, double limit) {
  double sum = 0;
  double lowest = 0;
  double highest = 0;
  for (const double value : values) {
    sum += value;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  EXPECT_GE(lowest, -limit);
  EXPECT_LT(highest, limit);
  EXPECT_LT(lowest, -0.95 * limit);
  EXPECT_GT(highest, 0.95 * limit);
  // Five deviations of the mean of so many uniform values.
  const auto n = static_cast<double>(values.size());
  EXPECT_LT(std::abs(sum / n), 5 * limit / std::sqrt(3 * n));
}

TEST(Models, WeightsFillTheIntervalThatTheirActivationAsksFor) {
  ModelOptions options = mlp({80, 40});
  options.loss = LossKind::squared_error;
  auto values = starting_values<double>(options);
  expect_fills(values[0], std::sqrt(6.0 / 24));  // He: before a relu
  expect_fills(values[2], std::sqrt(6.0 / 80));
  expect_fills(values[4], std::sqrt(6.0 / (40 + 10)));  // Glorot: the output layer has none

  options.activation = Activation::sigmoid;
  options.loss = LossKind::cross_entropy;
  values = starting_values<double>(options);
  expect_fills(values[0], std::sqrt(6.0 / (24 + 80)));
  expect_fills(values[2], std::sqrt(6.0 / (80 + 40)));
  expect_fills(values[4], std::sqrt(6.0 / (40 + 10)));

  expect_fills(starting_values<double>(mlp({80, 40}))[0], std::sqrt(6.0 / 24));

  ModelOptions wide = neuron;
  wide.sample = {400};
  expect_fills(starting_values<double>(wide)[0], std::sqrt(6.0 / 401));
}

/// The dot product of columns j and k of a row-major matrix.
double columns_dot(const std::vector<double>& matrix, std::size_t cols, std::size_t j, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i < matrix.size(); i += cols) sum += matrix[i + j] * matrix[i + k];
  return sum;
}

TEST(Models, WeightsIntoAnOutputHaveLengthFourFromAFewDozenUnitsOn) {
  for (const Index units : {64, 400}) {
    const auto values = starting_values<double>(mlp({units}));
    EXPECT_NEAR(columns_dot(values[2], 10, 3, 3), 16, 1e-10) << units;
  }
}

TEST(Models, LastHiddenLayerOfAReluMlpStartsAsOrthogonalTwinsThatCancel) {
  const std::size_t units = 21;  // ten pairs and one without a twin
  const std::size_t classes = 10;
  const auto values = starting_values<double>(mlp({static_cast<Index>(units)}));
  const std::vector<double>& hidden = values[0];
  const std::vector<double>& output = values[2];
  for (std::size_t u = 0; u < 10; ++u) {
    EXPECT_NEAR(columns_dot(hidden, units, u, u), 2, 1e-12);
    EXPECT_NEAR(columns_dot(hidden, units, u, u + 10), 2, 1e-12);
    for (std::size_t v = 0; v < u; ++v) {
      EXPECT_NEAR(columns_dot(hidden, units, u, v), 0, 1e-12);
    }
    for (std::size_t j = 0; j < classes; ++j) {
      EXPECT_EQ(output[u * classes + j], -output[(u + 10) * classes + j]);
    }
  }
  for (std::size_t j = 0; j < classes; ++j) {
    EXPECT_NEAR(columns_dot(output, classes, j, j), 21.0 / 4, 1e-10);
    for (std::size_t k = 0; k < j; ++k) EXPECT_NEAR(columns_dot(output, classes, j, k), 0, 1e-10);
    EXPECT_EQ(output[20 * classes + j], 0);
  }
  // Without weights of its own, the unit without a twin could never learn.
  EXPECT_NEAR(columns_dot(hidden, units, 20, 20), 2, 1e-12);
}

TEST(Models, BiasesStartAtZero) {
  const auto values = starting_values<float>(mlp({7, 5}));
  for (const std::size_t bias : {1, 3, 5}) {
    EXPECT_EQ(values[bias], std::vector<float>(values[bias].size(), 0));
  }
}

/// The values that loss and prediction read, for one sample of ones.
std::vector<double> outputs_of(const ModelOptions& options, bool with_starting_values) {
  Network<double> network = make_network<double>(options, 1);
  const Model& model = network.model;
  std::vector<ParameterValues> start = initial_parameters(model, options, 1);
  for (ParameterValues& parameter : start) {
    if (with_starting_values) break;
    parameter.values = random_values<double>(parameter.shape.elements(), 2, -2, 2);
  }
  copy_parameters_in(network, start, "the test");
  std::fill_n(network.executor->data(model.batch), options.sample.elements(), 1.0);
  network.executor->execute(network.prediction, {.rows = 1});
  std::size_t readers = 0;  // loss and prediction
  for (const Line& line : model.program.lines) {
    const std::vector<ValueId> read = read_by(line.operation);
    if (std::count(read.begin(), read.end(), model.outputs) > 0) ++readers;
  }
  EXPECT_EQ(readers, 2U);
  const double* const outputs = network.executor->data(model.outputs);
  return {outputs, outputs + model[model.outputs].shape.elements()};
}

TEST(Models, ReluMlpStartsAsTheZeroFunction) {
  for (const std::vector<Index>& hidden : {std::vector<Index>{20}, {33}, {40, 2}, {9, 300}}) {
    for (const double output : outputs_of(mlp(hidden), true)) EXPECT_NEAR(output, 0, 1e-11);
  }
}

TEST(Models, OutputsAreSigmoidOnlyWithSquaredErrorAndSigmoidLayers) {
  const auto in_unit_interval = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return x > 0 && x < 1; });
  };
  for (const Activation activation : {Activation::relu, Activation::sigmoid}) {
    for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared_error}) {
      ModelOptions options = mlp({7});
      options.activation = activation;
      options.loss = loss;
      EXPECT_EQ(in_unit_interval(outputs_of(options, false)),
                activation == Activation::sigmoid && loss == LossKind::squared_error)
          << to_string(activation) << " with " << to_string(loss);
    }
  }
}

TEST(Models, NeuronNamesClassOneFromOneHalfOn) {
  Network<double> network = make_network<double>(neuron, 3);
  copy_parameters_in(
      network,
      {{.name = "fc1/weight", .shape = {3, 1}, .values = {1, 0, 0}}, {.name = "fc1/bias", .shape = {1}, .values = {0}}},
      "the test");
  const Dataset data({3}, 2, std::vector<double>{-1e-9, 5, 5, 0, 5, 5, 1e-9, 5, 5}, {1, 1, 1});
  const std::vector<std::uint32_t> order = {0, 1, 2};
  network.executor->read_from(data, order);
  network.executor->execute(network.evaluation, {.rows = 3});
  const auto* const classes = network.executor->data<std::int32_t>(network.model.classes);
  EXPECT_EQ(std::vector<std::int32_t>(classes, classes + 3), (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(network.model.threshold, 0.5);
  // (1 - sigmoid(0))^2
  EXPECT_NEAR(network.executor->data(network.model.row_losses)[1], 0.25, 1e-15);
}

}  // namespace
}  // namespace stagewise

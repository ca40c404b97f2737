#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/serial_backend.hpp"
#include "graph/graph.hpp"
#include "support.hpp"
#include "training/sgd.hpp"
#include "verify/gradient_check.hpp"

namespace stagewise {
namespace {

/// Stage 01 on memory that starts as NaN.
class PoisonedBackend final : public SerialBackend<double> {
 public:
  Memory& memory() override { return memory_; }
  const PoisonedMemory& counter() const { return memory_; }

 private:
  PoisonedMemory memory_;
};

using Values = std::vector<double>;

/// Sets a node's value for as many rows as the graph was built for.
void set(Node<double>& node, const Values& values) {
  std::copy(values.begin(), values.end(), node.value());
}

Values gradient_of(Parameter<double>& parameter) {
  return {parameter.gradient(), parameter.gradient() + parameter.elements()};
}

bool all_finite(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

void expect_equal_up_to_rounding(const Values& actual, const Values& expected) {
  std::vector<long double> bounds(expected.size(), 1e-14L);
  expect_within(actual, widened(expected), bounds);
}

/// Which of the two branches behind the hidden layer have a loss.
struct Branches {
  bool left;
  bool right;
};

/// A node that feeds two others:
///
///     input -> hidden -+-> relu ----> matmul -> cross-entropy
///                      +-> sigmoid -> matmul -> squared error
struct Fork {
  static constexpr Index rows = 5;

  explicit Fork(Branches losses) : graph(backend), labels(backend.allocate<std::int32_t>({rows})) {
    auto& input = graph.add<Placeholder<double>>("input", Shape{4});
    shared = &graph.add<Parameter<double>>("shared", Shape{4, 3}, ParameterKind::weight);
    auto& hidden = graph.add<MatMul<double>>("hidden", input, *shared);
    auto& relu = graph.add<ReLU<double>>("relu", hidden);
    auto& sigmoid = graph.add<Sigmoid<double>>("sigmoid", hidden);
    left = &graph.add<Parameter<double>>("left", Shape{3, 2}, ParameterKind::weight);
    right = &graph.add<Parameter<double>>("right", Shape{3, 4}, ParameterKind::weight);
    auto& left_outputs = graph.add<MatMul<double>>("left outputs", relu, *left);
    auto& right_outputs = graph.add<MatMul<double>>("right outputs", sigmoid, *right);
    if (losses.left) graph.add<SoftmaxCrossEntropy<double>>("left loss", left_outputs, labels);
    if (losses.right) graph.add<SquaredError<double>>("right loss", right_outputs, labels);
    graph.build(rows, GraphMode::training);
    set(input, random_values<double>(rows * 4, 1));
    set(*shared, random_values<double>(shared->elements(), 2));
    set(*left, random_values<double>(left->elements(), 3));
    set(*right, random_values<double>(right->elements(), 4));
    const auto classes = random_labels(rows, 2, 5);
    std::copy(classes.begin(), classes.end(), labels.data());
    graph.forward();
    graph.backward();
  }

  PoisonedBackend backend;
  Graph<double> graph;
  Labels labels;
  Parameter<double>* shared = nullptr;
  Parameter<double>* left = nullptr;
  Parameter<double>* right = nullptr;
};

TEST(Graph, NodeThatFeedsTwoOthersGetsTheSumOfTheirGradients) {
  Fork both({.left = true, .right = true});
  Fork left({.left = true, .right = false});
  Fork right({.left = false, .right = true});
  Values sum = gradient_of(*left.shared);
  const Values other = gradient_of(*right.shared);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NE(sum[i], 0);
    EXPECT_NE(other[i], 0);
    sum[i] += other[i];
  }
  expect_equal_up_to_rounding(gradient_of(*both.shared), sum);
  EXPECT_EQ(gradient_of(*both.left), gradient_of(*left.left));
  EXPECT_EQ(gradient_of(*both.right), gradient_of(*right.right));
}

TEST(Graph, BackwardTwiceDoesNotAddUp) {
  Fork fork({.left = true, .right = true});
  const Values once = gradient_of(*fork.shared);
  fork.graph.forward();
  fork.graph.backward();
  EXPECT_EQ(gradient_of(*fork.shared), once);
}

TEST(Graph, ParameterThatNoLossDependsOnHasGradientZero) {
  Fork fork({.left = true, .right = false});
  EXPECT_EQ(gradient_of(*fork.right), Values(12, 0.0));
  EXPECT_TRUE(all_finite(gradient_of(*fork.shared)));
  EXPECT_TRUE(all_finite(gradient_of(*fork.left)));
}

/// input -> linear -> linear -> linear -> loss, where the first and the last layer are the same
/// parameters.
struct SharedParameters {
  static constexpr Index rows = 6;

  SharedParameters() : graph(backend), labels(backend.allocate<std::int32_t>({rows})) {
    auto& input = graph.add<Placeholder<double>>("input", Shape{3});
    auto& twice = graph.add<Parameter<double>>("twice/weight", Shape{3, 3}, ParameterKind::weight);
    auto& bias = graph.add<Parameter<double>>("twice/bias", Shape{3}, ParameterKind::bias);
    auto& once = graph.add<Parameter<double>>("once/weight", Shape{3, 3}, ParameterKind::weight);
    auto& first = graph.add<Linear<double>>("first", input, twice, &bias, Activation::sigmoid);
    auto& second = graph.add<Linear<double>>("second", first, once, nullptr, Activation::relu);
    auto& third = graph.add<Linear<double>>("third", second, twice, &bias, Activation::none);
    loss = &graph.add<SoftmaxCrossEntropy<double>>("loss", third, labels);
    graph.build(rows, GraphMode::training);
    set(input, random_values<double>(rows * 3, 1));
    set(twice, random_values<double>(9, 2));
    set(bias, random_values<double>(3, 3));
    set(once, random_values<double>(9, 4, -0.5, 1));
    const auto classes = random_labels(rows, 3, 5);
    std::copy(classes.begin(), classes.end(), labels.data());
  }

  std::vector<Values> gradients() {
    graph.forward();
    graph.backward();
    std::vector<Values> result;
    for (Parameter<double>* const parameter : graph.parameters()) {
      result.push_back(gradient_of(*parameter));
    }
    return result;
  }

  PoisonedBackend backend;
  Graph<double> graph;
  Labels labels;
  Loss<double>* loss = nullptr;
};

TEST(Graph, ParameterUsedTwiceGetsTheSumOfItsGradients) {
  SharedParameters network;
  for (const GradientDifference& difference : check_gradients(network.graph, *network.loss)) {
    EXPECT_GT(difference.largest_gradient, 1e-3) << difference.parameter;
    EXPECT_LE(difference.relative, 1e-6) << difference.parameter;
  }
}

TEST(Graph, ObserverHearsOfEachParameterOnceAndInBackwardOrder) {
  SharedParameters network;
  std::vector<std::string> names;
  network.graph.on_gradient_complete(
      [&](Parameter<double>& parameter) { names.push_back(parameter.name()); });
  network.gradients();
  EXPECT_EQ(names, (std::vector<std::string>{"once/weight", "twice/weight", "twice/bias"}));
  network.gradients();
  EXPECT_EQ(names.size(), 6U);
}

TEST(Graph, GradientIsCompleteAndParameterFreeWhenTheObserverHears) {
  SharedParameters network;
  const std::vector<Values> undisturbed = network.gradients();
  // Spoil the parameter as soon as it is announced, and take the gradient away: if backward() still
  // needed the one or wrote to the other, something would differ.
  std::vector<std::string> names;
  std::vector<Values> announced;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  network.graph.on_gradient_complete([&](Parameter<double>& parameter) {
    names.push_back(parameter.name());
    announced.push_back(gradient_of(parameter));
    std::fill_n(parameter.value(), parameter.elements(), nan);
    std::fill_n(parameter.gradient(), parameter.elements(), -7.0);
  });
  const std::vector<Values> left_behind = network.gradients();
  ASSERT_EQ(announced.size(), 3U);
  EXPECT_EQ(announced[0], undisturbed[2]);
  EXPECT_EQ(announced[1], undisturbed[0]);
  EXPECT_EQ(announced[2], undisturbed[1]);
  for (const Values& values : left_behind) EXPECT_EQ(values, Values(values.size(), -7.0));
}

TEST(Graph, ObserverDoesNotHearOfParametersWithoutLoss) {
  Fork fork({.left = true, .right = false});
  std::vector<std::string> names;
  fork.graph.on_gradient_complete(
      [&](Parameter<double>& parameter) { names.push_back(parameter.name()); });
  fork.graph.backward();
  EXPECT_EQ(names, (std::vector<std::string>{"left", "shared"}));
}

TEST(Graph, FlattenAndAddBiasShareTheGradientOfTheirInput) {
  SerialBackend<double> backend;
  Graph<double> graph(backend);
  const Labels labels = backend.allocate<std::int32_t>({2});
  auto& input = graph.add<Placeholder<double>>("input", Shape{2, 3});
  auto& bias = graph.add<Parameter<double>>("bias", Shape{3}, ParameterKind::bias);
  auto& shifted = graph.add<AddBias<double>>("shifted", input, bias);
  auto& relu = graph.add<ReLU<double>>("relu", shifted);
  auto& flat = graph.add<Flatten<double>>("flat", relu);
  auto& last = graph.add<Parameter<double>>("last", Shape{6}, ParameterKind::bias);
  auto& outputs = graph.add<AddBias<double>>("outputs", flat, last);
  graph.add<SquaredError<double>>("loss", outputs, labels);
  for (const auto& node : graph.nodes()) {
    EXPECT_EQ(node->gradient(), nullptr) << node->name() << " has a gradient before it is built";
  }
  graph.build(2, GraphMode::training);
  EXPECT_EQ(flat.value(), relu.value());
  EXPECT_EQ(flat.gradient(), relu.gradient());
  EXPECT_EQ(outputs.gradient(), relu.gradient());
  EXPECT_NE(shifted.gradient(), nullptr);
  EXPECT_EQ(input.gradient(), nullptr);
}

TEST(Graph, InferenceAllocatesNoGradients) {
  const auto build = [](PoisonedBackend& backend, GraphMode mode) {
    auto graph = std::make_unique<Graph<double>>(backend);
    const std::size_t before = backend.counter().bytes();
    auto& input = graph->add<Placeholder<double>>("input", Shape{4});
    auto& weight = graph->add<Parameter<double>>("weight", Shape{4, 3}, ParameterKind::weight);
    auto& bias = graph->add<Parameter<double>>("bias", Shape{3}, ParameterKind::bias);
    auto& product = graph->add<MatMul<double>>("product", input, weight);
    auto& sum = graph->add<AddBias<double>>("sum", product, bias);
    graph->add<Sigmoid<double>>("sigmoid", sum);
    graph->build(10, mode);
    if (mode == GraphMode::inference) {
      for (const auto& node : graph->nodes()) EXPECT_EQ(node->gradient(), nullptr) << node->name();
    }
    return backend.counter().bytes() - before;
  };
  PoisonedBackend backend;
  const std::size_t values = (10 * (4 + 3 + 3 + 3) + 12 + 3) * sizeof(double);
  EXPECT_EQ(build(backend, GraphMode::inference), values);
  EXPECT_GT(build(backend, GraphMode::training), values);
}

TEST(Graph, NothingIsAllocatedAfterBuild) {
  SharedParameters network;
  const std::size_t before = network.backend.counter().allocations();
  network.gradients();
  network.gradients();
  EXPECT_EQ(network.backend.counter().allocations(), before);
}

TEST(Graph, SmallerBatchGivesWhatAGraphOfThatSizeGives) {
  const auto run = [](Index max_rows, Index rows) {
    PoisonedBackend backend;  // what the batch does not fill stays NaN
    Graph<double> graph(backend);
    Labels labels = backend.allocate<std::int32_t>({max_rows});
    auto& input = graph.add<Placeholder<double>>("input", Shape{4});
    auto& weight = graph.add<Parameter<double>>("weight", Shape{4, 3}, ParameterKind::weight);
    auto& bias = graph.add<Parameter<double>>("bias", Shape{3}, ParameterKind::bias);
    auto& layer = graph.add<Linear<double>>("layer", input, weight, &bias, Activation::sigmoid);
    auto& loss = graph.add<SquaredError<double>>("loss", layer, labels);
    auto& prediction = graph.add<ArgMax<double>>("prediction", layer);
    graph.build(max_rows, GraphMode::training);
    graph.set_rows(rows);
    set(input, random_values<double>(rows * 4, 1));
    set(weight, random_values<double>(12, 2));
    set(bias, random_values<double>(3, 3));
    const auto classes = random_labels(rows, 3, 4);
    std::copy(classes.begin(), classes.end(), labels.data());
    graph.forward();
    graph.backward();
    Values result(loss.value(), loss.value() + rows);
    result.insert(result.end(), weight.gradient(), weight.gradient() + 12);
    result.insert(result.end(), bias.gradient(), bias.gradient() + 3);
    result.insert(result.end(), prediction.predictions(), prediction.predictions() + rows);
    return result;
  };
  const Values exact = run(3, 3);
  EXPECT_TRUE(all_finite(exact));
  EXPECT_EQ(run(7, 3), exact);
}

TEST(Graph, BatchMustFit) {
  SharedParameters network;
  EXPECT_EQ(network.graph.rows(), 6);
  for (const Index rows : {-1, 0, 7}) {
    EXPECT_EQ(
        sentence_of([&] { network.graph.set_rows(rows); }),
        "a batch of " + std::to_string(rows) + " samples does not fit into a network built for 6");
    EXPECT_EQ(network.graph.rows(), 6);
  }
  network.graph.set_rows(1);
  EXPECT_EQ(network.graph.rows(), 1);
  network.graph.set_rows(6);
  EXPECT_EQ(network.graph.max_rows(), 6);
}

TEST(Graph, TimingsHaveARowForEachNodeThatComputes) {
  SharedParameters network;
  network.gradients();
  EXPECT_TRUE(network.graph.timings().empty());
  network.graph.enable_timings();
  network.gradients();
  network.gradients();
  std::vector<std::string> names;
  for (const Timing& timing : network.graph.timings()) {
    names.push_back(timing.operation);
    EXPECT_EQ(timing.calls, 2);
    EXPECT_GT(timing.forward_seconds, 0);
    EXPECT_GT(timing.backward_seconds, 0);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"first (linear)", "second (linear)", "third (linear)",
                                             "loss (softmax cross-entropy)"}));
}

// ------------------------------------------------------------------------ updates on the way back

constexpr Sgd sgd = {.learning_rate = 0.25, .l2 = 0.125};

template <typename N>
std::vector<Values> parameters_of(N& network) {
  std::vector<Values> result;
  for (Parameter<double>* const parameter : network.graph.parameters()) {
    result.emplace_back(parameter->value(), parameter->value() + parameter->elements());
  }
  return result;
}

/// Layers that pass updates on, and a weight and a bias that two of them read.
TEST(Graph, UpdatesInBackwardAreBackwardAndThenUpdates) {
  SharedParameters apart;
  SharedParameters at_once;
  at_once.graph.update_in_backward(&sgd);
  const std::vector<Values> start = parameters_of(apart);
  for (int step = 0; step < 3; ++step) {
    apart.gradients();
    update(apart.graph, sgd);
    at_once.gradients();
    EXPECT_EQ(parameters_of(at_once), parameters_of(apart)) << "step " << step;
  }
  for (std::size_t i = 0; i < start.size(); ++i) EXPECT_NE(parameters_of(apart)[i], start[i]);
}

/// Nodes that know nothing of updates, and a parameter that no loss depends on.
TEST(Graph, UpdatesInBackwardReachTheParametersOfEveryNode) {
  Fork apart({.left = true, .right = false});
  Fork at_once({.left = true, .right = false});
  at_once.graph.update_in_backward(&sgd);
  const std::vector<Values> start = parameters_of(apart);
  for (Fork* const fork : {&apart, &at_once}) {
    fork->graph.forward();
    fork->graph.backward();
  }
  update(apart.graph, sgd);
  EXPECT_EQ(parameters_of(at_once)[0], parameters_of(apart)[0]);
  EXPECT_EQ(parameters_of(at_once)[1], parameters_of(apart)[1]);
  EXPECT_NE(parameters_of(at_once)[0], start[0]);
  EXPECT_EQ(parameters_of(at_once)[2], start[2]) << "there is no gradient to follow";
}

TEST(Graph, UpdatesInBackwardEndWhenToldSo) {
  SharedParameters network;
  const std::vector<Values> gradients = network.gradients();
  const std::vector<Values> start = parameters_of(network);
  network.graph.update_in_backward(&sgd);
  network.graph.update_in_backward(nullptr);
  EXPECT_EQ(network.gradients(), gradients);
  EXPECT_EQ(parameters_of(network), start);
}

/// Stage 01, which remembers how layers were asked for, and says what it can do.
class FusingBackend final : public SerialBackend<double> {
 public:
  bool fuses_activation_backward() const override { return true; }
  bool selects_rows() const override { return true; }

  /// Picks the rows of the input first.
  void linear(const LinearProblem<double>& layer) override {
    if (layer.selection.order == nullptr) return SerialBackend<double>::linear(layer);
    ++selections;
    LinearProblem<double> picked = layer;
    picked.selection = {};
    const Values rows = pick(layer);
    picked.input = rows.data();
    SerialBackend<double>::linear(picked);
  }

  void linear_backward(const LinearBackwardProblem<double>& layer) override {
    problems.push_back(layer);
    LinearBackwardProblem<double> picked = layer;
    Values rows;
    if (layer.forward.selection.order != nullptr) {
      ++selections;
      rows = pick(layer.forward);
      picked.forward.input = rows.data();
    }
    SerialBackend<double>::linear_backward(picked);
  }

  int selections = 0;
  std::vector<LinearBackwardProblem<double>> problems;

 private:
  static Values pick(const LinearProblem<double>& layer) {
    Values rows;
    for (Index i = 0; i < layer.rows; ++i) {
      const double* const row = layer.input + layer.selection.order[i] * layer.in;
      rows.insert(rows.end(), row, row + layer.in);
    }
    return rows;
  }
};

/// image -> flatten -> linear -> linear -> loss.
struct TwoLayers {
  static constexpr Index rows = 4;
  static constexpr Index samples = 9;

  explicit TwoLayers(Backend<double>& backend, Activation activation = Activation::sigmoid)
      : graph(backend), labels(backend.allocate<std::int32_t>({rows})) {
    input = &graph.add<Placeholder<double>>("input", Shape{2, 3});
    auto& flat = graph.add<Flatten<double>>("flat", *input);
    auto& first_weight =
        graph.add<Parameter<double>>("fc1/weight", Shape{6, 5}, ParameterKind::weight);
    auto& bias = graph.add<Parameter<double>>("fc1/bias", Shape{5}, ParameterKind::bias);
    auto& weight = graph.add<Parameter<double>>("fc2/weight", Shape{5, 3}, ParameterKind::weight);
    auto& hidden = graph.add<Linear<double>>("fc1", flat, first_weight, &bias, activation);
    auto& output = graph.add<Linear<double>>("fc2", hidden, weight, nullptr, activation);
    outputs = &output;
    loss = &graph.add<SquaredError<double>>("loss", output, labels);
    graph.build(rows, GraphMode::training);
    set(*input, random_values<double>(rows * 6, 1));
    set(first_weight, random_values<double>(30, 2));
    set(bias, random_values<double>(5, 3));
    set(weight, random_values<double>(15, 4, -0.5, 1));
    const auto classes = random_labels(rows, 3, 5);
    std::copy(classes.begin(), classes.end(), labels.data());
  }

  std::vector<Values> gradients() {
    graph.forward();
    graph.backward();
    return stored_gradients();
  }

  std::vector<Values> stored_gradients() const {
    std::vector<Values> result;
    for (Parameter<double>* const parameter : graph.parameters()) {
      result.push_back(gradient_of(*parameter));
    }
    return result;
  }

  Graph<double> graph;
  Labels labels;
  Placeholder<double>* input = nullptr;
  Linear<double>* outputs = nullptr;
  Loss<double>* loss = nullptr;
};

TEST(Graph, ALayerTakesOverTheActivationOfTheOneBelow) {
  for (const Activation activation : {Activation::relu, Activation::sigmoid}) {
    SerialBackend<double> serial;
    FusingBackend fusing;
    TwoLayers plain(serial, activation);
    TwoLayers fused(fusing, activation);
    EXPECT_EQ(fused.gradients(), plain.gradients());
    ASSERT_EQ(fusing.problems.size(), 2U);
    EXPECT_EQ(fusing.problems[0].forward.activation, activation) << "the loss takes over nothing";
    EXPECT_EQ(fusing.problems[0].input_activation, activation);
    EXPECT_EQ(fusing.problems[1].forward.activation, Activation::none) << "done by the one above";
    EXPECT_EQ(fusing.problems[1].input_activation, Activation::none) << "nothing made the input";
  }
}

/// Where two layers read what an activation made, each would take only its part through it.
TEST(Graph, NobodyTakesOverAnActivationThatOthersNeed) {
  FusingBackend fusing;
  Graph<double> graph(fusing);
  Labels labels = fusing.allocate<std::int32_t>({2});
  auto& input = graph.add<Placeholder<double>>("input", Shape{3});
  auto& weight = graph.add<Parameter<double>>("weight", Shape{3, 3}, ParameterKind::weight);
  auto& left = graph.add<Parameter<double>>("left", Shape{3, 3}, ParameterKind::weight);
  auto& right = graph.add<Parameter<double>>("right", Shape{3, 3}, ParameterKind::weight);
  auto& hidden = graph.add<Linear<double>>("hidden", input, weight, nullptr, Activation::sigmoid);
  auto& l = graph.add<Linear<double>>("l", hidden, left, nullptr, Activation::none);
  auto& r = graph.add<Linear<double>>("r", hidden, right, nullptr, Activation::none);
  graph.add<SquaredError<double>>("first", l, labels);
  graph.add<SquaredError<double>>("second", r, labels);
  graph.build(2, GraphMode::training);
  set(input, random_values<double>(6, 1));
  for (Parameter<double>* const parameter : graph.parameters()) {
    set(*parameter, random_values<double>(9, 2));
  }
  const auto classes = random_labels(2, 3, 1);
  std::copy(classes.begin(), classes.end(), labels.data());
  graph.forward();
  graph.backward();
  ASSERT_EQ(fusing.problems.size(), 3U);
  for (const auto& problem : fusing.problems) {
    EXPECT_EQ(problem.input_activation, Activation::none);
  }
  EXPECT_EQ(fusing.problems.back().forward.activation, Activation::sigmoid);
}

TEST(Graph, ALayerCanLeaveItsActivationToWhoReadsIt) {
  SerialBackend<double> backend;
  TwoLayers whole(backend);
  const std::vector<Values> expected = whole.gradients();
  TwoLayers left(backend);
  left.outputs->leave_activation_to_reader();
  left.graph.forward();
  const std::size_t end = left.graph.number_of(*left.loss);
  left.loss->backward(backend, TwoLayers::rows);
  double* const gradient = left.outputs->gradient();
  backend.sigmoid_backward(TwoLayers::rows * 3, left.outputs->value(), gradient, gradient);
  left.graph.backward_before(end);
  EXPECT_EQ(left.stored_gradients(), expected);
}

// ------------------------------------------------------------------------------- parts of a graph

TEST(Graph, ForwardBeforeANodeLeavesTheRestAlone) {
  PoisonedBackend backend;
  TwoLayers whole(backend);
  whole.graph.forward();
  TwoLayers part(backend);
  part.graph.forward_before(part.graph.number_of(*part.loss));
  EXPECT_EQ(Values(part.outputs->value(), part.outputs->value() + 12),
            Values(whole.outputs->value(), whole.outputs->value() + 12));
  EXPECT_TRUE(std::isnan(part.loss->value()[0]));
  EXPECT_TRUE(std::isfinite(whole.loss->value()[0]));
}

TEST(Graph, BackwardBeforeANodeTakesTheGradientThatIsThere) {
  SerialBackend<double> backend;
  TwoLayers whole(backend);
  const std::vector<Values> expected = whole.gradients();
  TwoLayers part(backend);
  part.graph.forward();
  part.loss->backward(backend, TwoLayers::rows);
  for (Index i = 0; i < TwoLayers::rows * 3; ++i) part.outputs->gradient()[i] *= 2;
  part.graph.backward_before(part.graph.number_of(*part.loss));
  const std::vector<Values> doubled = part.stored_gradients();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t j = 0; j < expected[i].size(); ++j) {
      EXPECT_NEAR(doubled[i][j], 2 * expected[i][j], 1e-15) << i << ", " << j;
    }
  }
}

TEST(Graph, NumbersItsNodesAsTheyWereAdded) {
  SerialBackend<double> backend;
  const TwoLayers network(backend);
  for (std::size_t i = 0; i < network.graph.nodes().size(); ++i) {
    EXPECT_EQ(network.graph.number_of(*network.graph.nodes()[i]), i);
  }
}

// ------------------------------------------------------------------- values that are somewhere
// else

TEST(Placeholder, UsesABatchThatIsElsewhereUntilTold) {
  SerialBackend<double> backend;
  TwoLayers network(backend);
  const std::vector<Values> own = network.gradients();
  Values elsewhere = random_values<double>(TwoLayers::rows * 6, 77);
  TwoLayers other(backend);
  set(*other.input, elsewhere);
  network.input->use(elsewhere.data());
  EXPECT_EQ(network.gradients(), other.gradients());
  EXPECT_NE(network.stored_gradients(), own);
  network.input->use_own();
  EXPECT_EQ(network.gradients(), own);
}

/// The first layer picks its rows, though a flattening is in between.
TEST(Placeholder, PassesASelectionOn) {
  FusingBackend backend;
  TwoLayers network(backend);
  Values all = random_values<double>(TwoLayers::samples * 6, 77);
  const std::vector<std::uint32_t> order = {8, 0, 3, 3};
  Values batch;
  for (const std::uint32_t sample : order) {
    const auto first = all.begin() + Index{sample} * 6;
    batch.insert(batch.end(), first, first + 6);
  }
  network.input->use(all.data(), {order.data()});
  EXPECT_EQ(network.input->selection().order, order.data());
  const std::vector<Values> selected = network.gradients();
  EXPECT_EQ(backend.selections, 2) << "forward and backward, of the first layer only";
  network.input->use_own();
  EXPECT_EQ(network.input->selection().order, nullptr);
  set(*network.input, batch);
  EXPECT_EQ(network.gradients(), selected);
  EXPECT_EQ(backend.selections, 2);
}

TEST(Parameter, SharesTheValueAndKeepsItsGradient) {
  PoisonedBackend backend;
  TwoLayers owner(backend);
  const std::vector<Values> expected = owner.gradients();
  TwoLayers guest(backend);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Parameter<double>& parameter = *guest.graph.parameters()[i];
    const double* const gradient = parameter.gradient();
    parameter.share_value(*owner.graph.parameters()[i]);
    EXPECT_EQ(parameter.value(), owner.graph.parameters()[i]->value());
    EXPECT_EQ(parameter.gradient(), gradient);
    EXPECT_NE(parameter.gradient(), owner.graph.parameters()[i]->gradient());
  }
  EXPECT_EQ(guest.gradients(), expected);
  update(owner.graph, sgd);
  EXPECT_NE(guest.gradients(), expected) << "an update of the owner's is everybody's";
  EXPECT_EQ(owner.stored_gradients(), expected);
}

/// Networks that do not fit together.
class GraphRefusal : public testing::Test {
 protected:
  Parameter<double>& parameter(const std::string& name, const Shape& shape) {
    return graph_.add<Parameter<double>>(name, shape, ParameterKind::weight);
  }

  template <typename N, typename... Args>
  std::string refusal(Args&&... args) {
    const std::size_t before = graph_.nodes().size();
    std::string sentence = sentence_of([&] { graph_.add<N>("it", std::forward<Args>(args)...); });
    EXPECT_EQ(graph_.nodes().size(), before);
    return sentence;
  }

  SerialBackend<double> backend_;
  Graph<double> graph_{backend_};
  Labels labels_ = backend_.allocate<std::int32_t>({1});
  Placeholder<double>& input_ = graph_.add<Placeholder<double>>("input", Shape{4});
  Placeholder<double>& image_ = graph_.add<Placeholder<double>>("image", Shape{2, 3, 1});
};

TEST_F(GraphRefusal, NameThatIsTaken) {
  parameter("it", Shape{3});
  EXPECT_EQ(refusal<Flatten<double>>(input_), "two nodes of the network are both named 'it'");
}

TEST_F(GraphRefusal, InputThatDoesNotFitTheWeight) {
  auto& weight = parameter("weight", Shape{5, 3});
  const std::string sentence = "'it' takes samples of shape [5], but its input has shape [4]";
  EXPECT_EQ(refusal<MatMul<double>>(input_, weight), sentence);
  EXPECT_EQ((refusal<Linear<double>>(input_, weight, nullptr, Activation::relu)), sentence);
  EXPECT_EQ(refusal<MatMul<double>>(image_, weight),
            "'it' takes samples of shape [5], but its input has shape [2, 3, 1]");
}

TEST_F(GraphRefusal, WeightThatIsNoMatrix) {
  for (const Shape& shape : {Shape{4}, Shape{4, 3, 2}, Shape{}}) {
    auto& weight = parameter("weight of shape " + shape.to_string(), shape);
    const std::string sentence =
        "'it' takes a weight of two dimensions, but it has shape " + shape.to_string();
    EXPECT_EQ(refusal<MatMul<double>>(input_, weight), sentence);
    EXPECT_EQ((refusal<Linear<double>>(input_, weight, nullptr, Activation::none)), sentence);
  }
}

TEST_F(GraphRefusal, BiasThatDoesNotFitTheOutput) {
  auto& weight = parameter("weight", Shape{4, 3});
  auto& bias = parameter("bias", Shape{4});
  EXPECT_EQ((refusal<Linear<double>>(input_, weight, &bias, Activation::none)),
            "'it' takes a bias of shape [3], but it has shape [4]");
  EXPECT_EQ(refusal<AddBias<double>>(image_, bias),
            "'it' takes a bias of shape [1], but it has shape [4]");
}

TEST_F(GraphRefusal, OutputsThatAreNoRow) {
  const std::string sentence = "'it' takes samples of shape [6], but its input has shape [2, 3, 1]";
  EXPECT_EQ(refusal<SoftmaxCrossEntropy<double>>(image_, labels_), sentence);
  EXPECT_EQ(refusal<SquaredError<double>>(image_, labels_), sentence);
  EXPECT_EQ(refusal<Threshold<double>>(input_, 0.5),
            "'it' takes samples of shape [1], but its input has shape [4]");
}

}  // namespace
}  // namespace stagewise

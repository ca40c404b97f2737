/// @file
/// Stage 04's rewrites: which lines they make of a program, and that these do the same.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/stage_types.hpp"
#include "network/dependencies.hpp"
#include "support.hpp"
#include "unit/programs.hpp"
#ifdef CUDA_ON_CPU
#include "cuda_on_cpu/settings.hpp"
#endif

namespace stagewise {
namespace {

using minibatch::assign_lanes;
using minibatch::fuse;
using minibatch::FuseOptions;
using minibatch::LastLayer;
using minibatch::without_gather;
using Texts = std::vector<std::string>;

/// The lines, and of those that were fused, what they replace.
Texts lines_of(const Program& program) {
  Texts lines;
  for (const Line& line : program.lines) {
    lines.push_back(text_of(program, line.operation));
    if (!line.replaces.empty()) lines.back() += "  # " + replaced_text(line);
  }
  return lines;
}

Texts names_of(const Program& program) {
  Texts names;
  for (const Line& line : program.lines) names.emplace_back(name_of(line.operation));
  return names;
}

ModelOptions table(std::vector<Index> hidden, Activation activation = Activation::relu,
                   LossKind loss = LossKind::cross_entropy, bool biases = true) {
  return {.hidden = std::move(hidden),
          .activation = activation,
          .loss = loss,
          .biases = biases,
          .sample = {11},
          .classes = 4};
}

const ModelOptions cnn = {.name = "cnn", .sample = {16, 16, 2}, .classes = 3};

class Stage04 : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

class Fusion : public Stage04 {};

// ---------------------------------------------------------------------------------- which lines

// The lines are long: strings go on in the next line.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
TEST_F(Fusion, MakesThreeLinesOfAPerceptron) {
  EXPECT_EQ(lines_of(fuse<float>(step_of(mlp), 100)),
            (Texts{"linear  features, order, fc1/weight, fc1/bias -> fc1/output  # gather gemm "
                   "add_bias relu",
                   "output_layer  fc1/output, fc2/weight, fc2/bias, labels, order -> d fc1/sum, "
                   "shares, partials  # gather gemm add_bias softmax_cross_entropy argmax "
                   "softmax_cross_entropy_backward gemm relu_backward column_sums gemm",
                   "linear_gradients  features, order, ..., totals -> fc1/weight, fc1/bias, "
                   "fc2/weight, fc2/bias, totals  # sgd_update x2 accumulate gather column_sums "
                   "gemm sgd_update x2"}));
}

TEST_F(Fusion, LeavesTheGatheringToAKernelWhereAsked) {
  EXPECT_EQ(names_of(fuse<float>(step_of(mlp), 100, {.gathers = false})),
            (Texts{"gather", "linear", "output_layer", "linear_gradients"}));
}

TEST_F(Fusion, FusesTheLossAloneWhereAsked) {
  EXPECT_EQ(names_of(fuse<float>(step_of(mlp), 100, {.layers = false})),
            (Texts{"gather", "gemm", "add_bias", "relu", "gemm", "add_bias", "loss", "column_sums",
                   "gemm", "gemm", "relu_backward", "column_sums", "gemm", "update_by_sum",
                   "add_partials"}));
}

TEST_F(Fusion, FusesTheLastLayerAsFarAsAsked) {
  EXPECT_EQ(names_of(fuse<float>(step_of(mlp), 100, {.last_layer = LastLayer::loss})),
            (Texts{"linear", "linear", "loss", "linear_input_gradient", "linear_gradients",
                   "linear_gradients", "add_partials"}));
  const Program step = fuse<float>(step_of(mlp), 100, {.last_layer = LastLayer::warp_per_row});
  EXPECT_EQ(names_of(step), (Texts{"linear", "output_layer", "linear_gradients", "linear_gradients",
                                   "add_partials"}));
  EXPECT_TRUE(std::get<OutputLayer>(step.lines[1].operation).warp_per_row);
}

TEST_F(Fusion, LeavesConvolutionsToStage03WhereAsked) {
  const Program step = fuse<float>(step_of(cnn), 10, {.layers = false});
  const Texts names = names_of(step);
  EXPECT_EQ(std::count(names.begin(), names.end(), "convolution_backward"), 2);
  for (const Line& line : step.lines) {
    if (line.replaces.empty()) continue;
    const std::string name = name_of(line.operation);
    EXPECT_TRUE(name == "loss" || name == "add_partials" || name == "update_by_sum") << name;
  }
}

TEST_F(Fusion, FusesEveryLayerOfADeepPerceptron) {
  EXPECT_EQ(
      lines_of(fuse<float>(step_of(table({20, 9}, Activation::sigmoid)), 10)),
      (Texts{"linear  features, order, fc1/weight, fc1/bias -> fc1/output  # gather gemm add_bias "
             "sigmoid",
             "linear  fc1/output, fc2/weight, fc2/bias -> fc2/output  # gemm add_bias sigmoid",
             "output_layer  fc2/output, fc3/weight, fc3/bias, labels, order -> d fc2/sum, shares, "
             "partials  # gather gemm add_bias softmax_cross_entropy argmax "
             "softmax_cross_entropy_backward gemm sigmoid_backward column_sums gemm",
             "linear_input_gradient  d fc2/sum, fc2/weight, fc1/output -> d fc1/sum  # gemm "
             "sigmoid_backward",
             "linear_gradients  features, order, ..., totals -> fc1/weight, fc1/bias, fc3/weight, "
             "fc3/bias, totals  # sgd_update x2 accumulate gather column_sums gemm sgd_update "
             "x2",
             "linear_gradients  fc1/output, d fc2/sum, fc2/weight, fc2/bias -> fc2/weight, "
             "fc2/bias  # column_sums gemm sgd_update x2"}));
}

TEST_F(Fusion, FusesWithoutBiases) {
  EXPECT_EQ(names_of(fuse<float>(
                step_of(table({20}, Activation::relu, LossKind::squared_error, false)), 10)),
            (Texts{"linear", "output_layer", "linear_gradients"}));
}

TEST_F(Fusion, FusesANetworkWithoutHiddenLayer) {
  EXPECT_EQ(
      lines_of(fuse<float>(step_of(table({})), 10)),
      (Texts{"gather  features, labels, order -> batch, batch labels",
             "output_layer  batch, fc1/weight, fc1/bias, batch labels -> shares, partials  # gemm "
             "add_bias softmax_cross_entropy argmax softmax_cross_entropy_backward column_sums "
             "gemm",
             "add_shares  shares, partials, fc1/weight, fc1/bias, totals -> fc1/weight, fc1/bias, "
             "totals  # sgd_update x2 accumulate"}));
}

TEST_F(Fusion, FusesTheNeuron) {
  EXPECT_EQ(
      lines_of(fuse<float>(step_of({.name = "neuron", .sample = {1}, .classes = 2}), 10)),
      (Texts{"gather  features, labels, order -> batch, batch labels",
             "output_layer  batch, fc1/weight, fc1/bias, batch labels -> shares, partials  # gemm "
             "add_bias sigmoid squared_error threshold squared_error_backward sigmoid_backward "
             "column_sums gemm",
             "add_shares  shares, partials, fc1/weight, fc1/bias, totals -> fc1/weight, fc1/bias, "
             "totals  # sgd_update x2 accumulate"}));
}

TEST_F(Fusion, FusesTheConvolutionalNetwork) {
  EXPECT_EQ(lines_of(fuse<float>(step_of(cnn), 10)),
            (Texts{"gather  features, labels, order -> batch, batch labels",
                   "convolution_relu_pool  batch, conv1/filter, conv1/bias -> conv1/activated, "
                   "conv1/output  # convolution add_bias relu average_pool",
                   "convolution_relu_pool  conv1/output, conv2/filter, conv2/bias -> "
                   "conv2/activated, conv2/output  # convolution add_bias relu average_pool",
                   "linear  conv2/output, fc1/weight, fc1/bias -> fc1/output  # gemm add_bias relu",
                   "output_layer  fc1/output, fc2/weight, fc2/bias, batch labels -> d fc1/sum, "
                   "shares, partials  # gemm add_bias softmax_cross_entropy argmax "
                   "softmax_cross_entropy_backward gemm relu_backward column_sums gemm",
                   "linear_input_gradient  d fc1/sum, fc1/weight -> d conv2/output  # gemm",
                   "linear_gradients  conv2/output, d fc1/sum, ..., totals -> fc1/weight, "
                   "fc1/bias, fc2/weight, fc2/bias, totals  # sgd_update x2 accumulate column_sums "
                   "gemm sgd_update x2",
                   "pool_relu_backward  conv2/activated, d conv2/output -> d conv2/sum, d "
                   "conv2/bias  # average_pool_backward relu_backward column_sums",
                   "convolution_backward  conv1/output, conv2/filter, d conv2/sum -> d "
                   "conv1/output, d conv2/filter",
                   "pool_relu_backward  conv1/activated, d conv1/output -> d conv1/sum, d "
                   "conv1/bias  # average_pool_backward relu_backward column_sums",
                   "convolution_backward  batch, conv1/filter, d conv1/sum -> d conv1/filter",
                   "update_by_sum  d conv1/filter, d conv1/bias, ..., conv2/bias -> conv1/filter, "
                   "conv1/bias, conv2/filter, conv2/bias  # sgd_update x4"}));
}

/// What the last layer's kernel cannot take is a layer like others, and a loss.
TEST_F(Fusion, LeavesWideLastLayersToProducts) {
  ModelOptions wide = mlp;
  wide.classes = 33;
  EXPECT_EQ(lines_of(fuse<float>(step_of(wide), 100)),
            (Texts{"linear  features, order, fc1/weight, fc1/bias -> fc1/output  # gather gemm "
                   "add_bias relu",
                   "linear  fc1/output, fc2/weight, fc2/bias -> fc2/output  # gemm add_bias",
                   "loss  fc2/output, labels, order -> d fc2/output, partials  # gather "
                   "softmax_cross_entropy argmax softmax_cross_entropy_backward",
                   "linear_input_gradient  d fc2/output, fc2/weight, fc1/output -> d fc1/sum  # "
                   "gemm relu_backward",
                   "linear_gradients  fc1/output, d fc2/output, fc2/weight, fc2/bias -> "
                   "fc2/weight, fc2/bias  # column_sums gemm sgd_update x2",
                   "linear_gradients  features, order, d fc1/sum, fc1/weight, fc1/bias -> "
                   "fc1/weight, fc1/bias  # gather column_sums gemm sgd_update x2",
                   "add_partials  partials, totals -> totals  # accumulate"}));
}

TEST_F(Fusion, FusesWhatWorkersExchange) {
  EXPECT_EQ(names_of(fuse<float>(step_of(table({20}), {.workers = 2}), 10)),
            (Texts{"linear", "output_layer", "linear_gradients", "linear_gradients", "linear",
                   "output_layer", "linear_gradients", "linear_gradients", "update_by_sum",
                   "add_partials", "add_partials"}));
  const TrainingPrograms own =
      build_training(build_model(table({20})), {}, {.workers = 2, .average = Average::weights});
  EXPECT_EQ(names_of(fuse<float>(own.step, 10)),
            (Texts{"linear", "output_layer", "linear_gradients", "linear", "output_layer",
                   "linear_gradients"}));
  EXPECT_EQ(lines_of(fuse<float>(own.mean, 10)),
            (Texts{"average_weights  fc1/weight@0, fc1/weight@1, ..., fc2/bias@1 -> fc1/weight@0, "
                   "fc1/weight@1, ..., fc2/bias  # mean x4"}));
  EXPECT_EQ(
      lines_of(fuse<float>(own.take_over, 10)),
      (Texts{
          "average_weights  fc1/weight@0, fc1/weight@1, ..., fc2/bias@1 -> fc1/weight@0, "
          "fc1/weight@1, ..., fc2/bias  # mean copy x2 mean copy x2 mean copy x2 mean copy x2"}));
}

/// What comes out of the relu is kept for the way back only.
TEST_F(Fusion, KeepsWhatOnlyTrainingNeedsOnlyInTraining) {
  EXPECT_EQ(lines_of(fuse<float>(build_model(cnn).prediction(), 10)),
            (Texts{"convolution_relu_pool  batch, conv1/filter, conv1/bias -> conv1/output  # "
                   "convolution add_bias relu average_pool",
                   "convolution_relu_pool  conv1/output, conv2/filter, conv2/bias -> conv2/output  "
                   "# convolution add_bias relu average_pool",
                   "linear  conv2/output, fc1/weight, fc1/bias -> fc1/output  # gemm add_bias relu",
                   "linear  fc1/output, fc2/weight, fc2/bias -> fc2/output  # gemm add_bias",
                   "argmax  fc2/output -> classes"}));
}

// NOLINTEND(bugprone-suspicious-missing-comma)

/// Every line is there once, by itself or in what another one replaces; gathering as often as it is
/// needed.
TEST_F(Fusion, LosesNoLine) {
  for (const ModelOptions& options : {table({20, 9}), cnn}) {
    for (const WorkerOptions& workers : {WorkerOptions{}, {.workers = 3}}) {
      const Program step = step_of(options, workers);
      const Program fused = fuse<double>(step, 10);
      Texts found;
      for (const Line& line : fused.lines) {
        if (line.replaces.empty()) found.push_back(text_of(fused, line.operation));
        for (const Operation& one : line.replaces) found.push_back(text_of(fused, one));
      }
      Texts expected = texts_of(step);
      std::sort(expected.begin(), expected.end());
      std::sort(found.begin(), found.end());
      const auto is_gathering = [](const std::string& text) { return text.starts_with("gather"); };
      const auto end = std::unique(found.begin(), found.end(), [&](const auto& a, const auto& b) {
        return a == b && is_gathering(a);
      });
      found.erase(end, found.end());
      EXPECT_EQ(found, expected);
    }
  }
}

// ----------------------------------------------------------------------------- what is left alone

/// A step in which somebody else reads a value, before the line that follows it.
Program with_reader_of(const std::string& name, const ModelOptions& options = mlp) {
  Program step = step_of(options);
  const ValueId read = named(step, name);
  Value copy = step[read];
  copy.name = "copy";
  copy.memory_of = {};
  const ValueId written = step.add(copy);
  const auto writer = std::find_if(step.lines.begin(), step.lines.end(), [&](const Line& line) {
    const std::vector<ValueId> values = written_by(line.operation);
    return std::find(values.begin(), values.end(), read) != values.end();
  });
  EXPECT_NE(writer, step.lines.end()) << name;
  step.lines.insert(writer + 1, Line{.operation = Copy{.x = read, .y = written}});
  expect_valid(step);
  return step;
}

/// The names of the lines that are made of such a step, all of which must find what they read.
Texts names_with_reader_of(const std::string& name, const ModelOptions& options = mlp) {
  const Program fused = fuse<float>(with_reader_of(name, options), 100);
  EXPECT_NO_THROW(expect_valid(fused)) << name;
  return names_of(fused);
}

TEST_F(Fusion, KeepsWhatSomebodyElseReads) {
  const std::string gradients = "linear_gradients";
  EXPECT_EQ(names_with_reader_of("fc1/product"),
            (Texts{"linear", "copy", "add_bias", "relu", "output_layer", gradients}));
  EXPECT_EQ(names_with_reader_of("fc1/output"),
            (Texts{"linear", "copy", "output_layer", gradients}))
      << "that is written in any case";
  EXPECT_EQ(names_with_reader_of("fc2/output"),
            (Texts{"linear", "linear", "copy", "loss", "linear_input_gradient", gradients,
                   gradients, "add_partials"}));
  EXPECT_EQ(names_with_reader_of("d fc1/output"),
            (Texts{"linear", "output_layer", "copy", "relu_backward", gradients}));
  EXPECT_EQ(names_with_reader_of("d fc2/weight"),
            (Texts{"linear", "output_layer", gradients, "copy", gradients, "update_by_sum",
                   "add_partials"}));
  EXPECT_EQ(names_with_reader_of("batch"),
            (Texts{"gather", "copy", "linear", "output_layer", gradients}));
}

/// Probabilities and row losses are nowhere, once the loss is fused.
TEST_F(Fusion, LeavesALossWhosePartsSomebodyReads) {
  for (const std::string name : {"probabilities", "row losses", "classes"}) {
    const Texts names = names_with_reader_of(name);
    EXPECT_EQ(std::count(names.begin(), names.end(), "softmax_cross_entropy"), 1) << name;
    EXPECT_EQ(std::count(names.begin(), names.end(), "add_partials"), 0) << name;
  }
}

// ------------------------------------------------------------------ a line does what its members
// do

/// A training, and how it is fused.
struct Case {
  std::string name;
  ModelOptions model;
  WorkerOptions workers = {};
  FuseOptions fusion = {};
};

std::vector<Case> cases() {
  constexpr Activation relu = Activation::relu;
  constexpr Activation sigmoid = Activation::sigmoid;
  constexpr LossKind squares = LossKind::squared_error;
  const WorkerOptions own = {.workers = 3, .average = Average::weights};
  ModelOptions wide = table({20}, sigmoid);
  wide.classes = 33;
  ModelOptions wide_squares = wide;
  wide_squares.loss = squares;
  ModelOptions without_biases = cnn;
  without_biases.biases = false;
  const ModelOptions neuron = {.name = "neuron", .sample = {1}, .classes = 2};
  return {{"relu", table({20})},
          {"sigmoid", table({33, 7}, sigmoid)},
          {"deep", table({20, 9, 17, 5}, relu)},
          {"squared error", table({17}, sigmoid, squares)},
          {"squared error behind relu", table({17, 3}, relu, squares)},
          {"no biases", table({20, 9}, relu, LossKind::cross_entropy, false)},
          {"no biases, squared error", table({20}, sigmoid, squares, false)},
          {"no hidden layer", table({})},
          {"wide", wide},
          {"wide, squared error", wide_squares},
          {"neuron", neuron},
          {"cnn", cnn},
          {"cnn without biases", without_biases},
          {"gathers by a kernel", table({20}), {}, {.gathers = false}},
          {"layers and the loss", table({20}), {}, {.last_layer = LastLayer::loss}},
          {"a warp per row", table({20}), {}, {.last_layer = LastLayer::warp_per_row}},
          {"the loss alone", table({20}, sigmoid), {}, {.layers = false}},
          {"the loss of a neuron", neuron, {}, {.layers = false}},
          {"the loss of a cnn", cnn, {}, {.layers = false}},
          {"2 workers", table({20, 9}), {.workers = 2}},
          {"3 workers, the loss alone", table({20}), {.workers = 3}, {.layers = false}},
          {"3 workers, cnn", cnn, {.workers = 3}},
          {"8 workers", table({20}, sigmoid, squares), {.workers = 8}},
          {"own weights", table({20, 9}), own},
          {"own weights, cnn", cnn, own},
          {"own weights, neuron", neuron, own},
          {"own weights, the loss alone", table({20}), own, {.layers = false}}};
}

constexpr Index max_rows = 10;

/// Data on the device, and where an executor finds it.
template <typename T>
class Samples {
 public:
  explicit Samples(const ModelOptions& options)
      : features_(random_values<T>(count * options.sample.elements(), 1)),
        labels_(random_labels(count, options.classes, 2)),
        order_(order()) {}

  /// @param first place in the order.
  void bind_to(MinibatchExecutor<T>& executor, const Model& model, Index first) {
    executor.bind(model.features, features_.get());
    executor.bind(model.labels, labels_.get());
    executor.bind(model.order, order_.get() + first);
    executor.read_from_device();
  }

 private:
  static constexpr Index count = 29;
  static std::vector<std::uint32_t> order() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < count; ++i) order.push_back((i * 11 + 5) % count);
    return order;
  }

  CudaArray<T> features_;
  CudaArray<std::int32_t> labels_;
  CudaArray<std::uint32_t> order_;
};

/// The rows' part of a value, copied out.
template <typename Element, typename T>
std::vector<Element> copy_of(MinibatchExecutor<T>& executor, const Program& program, ValueId id,
                             Index rows) {
  std::vector<Element> values(static_cast<std::size_t>(elements_of(program[id], rows)));
  if (!values.empty()) {
    executor.copy_out(values.data(), executor.template data<Element>(id),
                      values.size() * sizeof(Element));
  }
  return values;
}

template <typename T, typename Element>
void copy_into(MinibatchExecutor<T>& executor, ValueId id, const std::vector<Element>& values) {
  if (values.empty()) return;
  executor.copy_in(executor.template data<Element>(id), values.data(),
                   values.size() * sizeof(Element));
}

/// All that somebody has written, and random parameters; the rest is NaN.
template <typename T>
void fill(MinibatchExecutor<T>& executor, const Program& program) {
  for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
    const Value& value = program[{i}];
    if (value.memory_of || value.role == Role::data || executor.data({i}) == nullptr) continue;
    const Index n = elements_of(value, max_rows);
    if (is_parameter(value.role)) {
      copy_into(executor, {i}, random_values<T>(n, static_cast<std::uint64_t>(i), -0.4, 0.4));
    } else if (value.type == Type::totals) {
      copy_into(executor, {i}, std::vector<Totals>(1, {.loss = 2.5, .correct = 7}));
    } else if (value.type == Type::real) {
      copy_into(executor, {i}, poison<T>(n));
    }
  }
}

/// Executes the lines of a fused program one by one, on one executor as they are, and on another by
/// their members, of which each begins with what the lines before have left.
template <typename T>
class LineByLine {
 public:
  LineByLine(const Case& one, Model model, const Program& fused)
      : name_(one.name), model_(std::move(model)), fused_(fused), samples_(one.model) {
    EXPECT_NO_THROW(expect_valid(fused));
    members_.values = fused.values;
    for (const Line& line : fused.lines) {
      if (line.replaces.empty()) members_.append(line.operation);
      for (const Operation& member : line.replaces) members_.append(member);
    }
    actual_.load(fused_, max_rows);
    expected_.load(members_, max_rows);
    fill(actual_, fused_);
    fill(expected_, fused_);
  }

  void run(const Batch& batch) {
    samples_.bind_to(actual_, model_, batch.first);
    samples_.bind_to(expected_, model_, batch.first);
    for (const Line& line : fused_.lines) {
      Program alone(fused_.values);
      alone.lines = {{.operation = line.operation}};
      Program members(fused_.values);
      for (const Operation& member : line.replaces) members.append(member);
      if (line.replaces.empty()) members = alone;
      actual_.execute(alone, batch);
      expected_.execute(members, batch);
      if (!line.replaces.empty()) seen_.insert(name_of(line.operation));
      for (const ValueId id : written_by(line.operation)) {
        if (is_written(members, id)) compare(line, id, batch.rows);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  /// The names of the fused lines that were executed.
  const std::set<std::string>& seen() const { return seen_; }

 private:
  /// Whether the members write a value, too. They have no partials and no shares.
  static bool is_written(const Program& members, ValueId id) {
    return std::any_of(members.lines.begin(), members.lines.end(), [&](const Line& line) {
      const std::vector<ValueId> written = written_by(line.operation);
      return std::find(written.begin(), written.end(), id) != written.end();
    });
  }

  /// The sums are at most as long as the longest side of an operand.
  double units(const Line& line, Index rows) const {
    Index longest = rows;
    for_each_operand(line.operation, [&](ValueId id, Use /*use*/) {
      const Shape& shape = fused_[id].shape;
      if (fused_[id].role == Role::data) return;
      const bool is_image = shape.rank() == 3;  // sums over filters and pixels
      longest = std::max(longest, is_image ? rows * shape.elements() / shape[2] : shape.elements());
    });
    return 32 + 8 * std::sqrt(static_cast<double>(longest));
  }

  void compare(const Line& line, ValueId id, Index rows) {
    const std::string what = name_ + ", " + std::to_string(rows) + " rows, " +
                             text_of(fused_, line.operation) + ", " + fused_[id].name;
    const double bound = units(line, rows);
    if (fused_[id].type == Type::totals) {
      const auto actual = copy_of<Totals>(actual_, fused_, id, rows).front();
      const auto expected = copy_of<Totals>(expected_, fused_, id, rows).front();
      EXPECT_EQ(actual.correct, expected.correct) << what;
      EXPECT_EQ(actual.first_bad_step, expected.first_bad_step) << what;
      const double rounding = bound * static_cast<double>(std::numeric_limits<T>::epsilon());
      EXPECT_NEAR(actual.loss, expected.loss, rounding * expected.loss) << what;
      copy_into(expected_, id, std::vector<Totals>{actual});
    } else if (fused_[id].type == Type::real) {
      const auto actual = copy_of<T>(actual_, fused_, id, rows);
      expect_within_units(what, bound, actual, copy_of<T>(expected_, fused_, id, rows));
      copy_into(expected_, id, actual);
    }
  }

  std::string name_;
  Model model_;
  Program fused_;
  Program members_;
  Samples<T> samples_;
  MinibatchExecutor<T> actual_;
  MinibatchExecutor<T> expected_;
  std::set<std::string> seen_;
};

template <typename T>
class FusedLines : public Stage04 {};
TYPED_TEST_SUITE(FusedLines, Precisions, PrecisionNames);

/// A full batch, one that nothing divides, and one of fewer samples than workers.
TYPED_TEST(FusedLines, ComputeWhatTheyReplace) {
  std::set<std::string> seen;
  for (const Case& one : cases()) {
    const Model model = build_model(one.model);
    const TrainingPrograms training =
        build_training(model, {.learning_rate = 0.01, .l2 = 0.1}, one.workers);
    for (const Program* program : {&training.step, &training.mean, &training.take_over}) {
      if (program->lines.empty()) continue;
      LineByLine<TypeParam> lines(one, model, fuse<TypeParam>(*program, max_rows, one.fusion));
      for (const Batch& batch : {Batch{.rows = max_rows}, Batch{.first = 10, .rows = 7, .step = 2},
                                 Batch{.first = 17, .rows = 2, .step = 3}}) {
        lines.run(batch);
        if (this->HasFatalFailure()) return;
      }
      seen.insert(lines.seen().begin(), lines.seen().end());
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"add_partials", "add_shares", "average_weights",
                                         "convolution_relu_pool", "linear", "linear_gradients",
                                         "linear_input_gradient", "loss", "output_layer",
                                         "pool_relu_backward", "update_by_sum"}));
}

// ------------------------------------------------------------------------------------- side by
// side

/// Whether lines that use the same memory are done in their order: a lane does one after the other,
/// and a line waits for those that it is told to wait for.
bool is_ordered(const Program& program) {
  const std::size_t n = program.lines.size();
  std::vector<std::vector<bool>> follows(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::size_t> before = program.lines[i].waits_for;
    for (std::size_t k = 0; k < i; ++k) {
      if (program.lines[k].lane == program.lines[i].lane) before.push_back(k);
    }
    for (const std::size_t k : before) {
      follows[i][k] = true;
      for (std::size_t j = 0; j < k; ++j) follows[i][j] = follows[i][j] || follows[k][j];
    }
  }
  bool is_ordered = true;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      for_each_operand(program.lines[i].operation, [&](ValueId late, Use late_use) {
        for_each_operand(program.lines[k].operation, [&](ValueId early, Use early_use) {
          const bool conflicts = program.memory_of(late) == program.memory_of(early) &&
                                 (late_use != Use::reads || early_use != Use::reads);
          is_ordered = is_ordered && (!conflicts || follows[i][k]);
        });
      });
    }
  }
  return is_ordered;
}

TEST_F(Fusion, EveryLineWaitsForWhatItNeeds) {
  for (const Case& one : cases()) {
    const TrainingPrograms training = build_training(build_model(one.model), {}, one.workers);
    for (const Program* program : {&training.step, &training.mean, &training.take_over}) {
      const Program result = assign_lanes(fuse<float>(*program, max_rows, one.fusion));
      EXPECT_TRUE(is_ordered(result)) << one.name;
      std::set<std::size_t> awaited;
      for (const Line& line : result.lines) {
        awaited.insert(line.waits_for.begin(), line.waits_for.end());
      }
      for (std::size_t i = 0; i < result.lines.size(); ++i) {
        EXPECT_EQ(result.lines[i].is_awaited, awaited.contains(i)) << one.name << ", line " << i;
      }
    }
  }
}

/// That the test above can fail.
TEST_F(Fusion, LanesWithoutWaitsAreOutOfOrder) {
  Program result = assign_lanes(fuse<float>(step_of(table({20, 9})), max_rows));
  ASSERT_TRUE(is_ordered(result));
  for (Line& line : result.lines) line.waits_for.clear();
  EXPECT_FALSE(is_ordered(result));
}

std::vector<int> lanes_of(const Program& program) {
  std::vector<int> lanes;
  for (const Line& line : assign_lanes(program).lines) lanes.push_back(line.lane);
  return lanes;
}

TEST_F(Fusion, PutsAsideWhatNothingWaitsFor) {
  EXPECT_EQ(lanes_of(fuse<float>(step_of(table({20, 9})), max_rows)),
            (std::vector<int>{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(lanes_of(fuse<float>(step_of(table({})), max_rows)), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(lanes_of(fuse<float>(step_of(table({20}), {.workers = 2}), max_rows)),
            (std::vector<int>{0, 0, 1, 0, 2, 2, 3, 2, 0, 1, 3}));
}

/// Parameters and totals after two steps.
template <typename T>
struct Outcome {
  std::vector<std::vector<T>> parameters;
  std::vector<Totals> totals;
};

template <typename T>
Outcome<T> outcome_of(MinibatchExecutor<T>& executor, const Model& model, const Program& program,
                      const std::vector<ValueId>& totals, const ModelOptions& options) {
  Samples<T> samples(options);
  executor.load(program, max_rows);
  fill(executor, program);
  for (const Batch& batch : {Batch{.rows = max_rows}, Batch{.first = 10, .rows = 7, .step = 2}}) {
    samples.bind_to(executor, model, batch.first);
    executor.execute(program, batch);
    executor.synchronize();
  }
  Outcome<T> result;
  for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
    if (!is_parameter(program[{i}].role)) continue;
    if (executor.data({i}) == nullptr) continue;  // of the model, where workers have their own
    result.parameters.push_back(copy_of<T>(executor, program, {i}, max_rows));
  }
  for (const ValueId id : totals) {
    result.totals.push_back(copy_of<Totals>(executor, program, id, max_rows).front());
  }
  return result;
}

template <typename T>
void expect_same_bits(const Outcome<T>& actual, const Outcome<T>& expected,
                      const std::string& name) {
  EXPECT_EQ(actual.parameters, expected.parameters) << name;
  ASSERT_FALSE(expected.parameters.empty()) << name;
  ASSERT_EQ(actual.totals.size(), expected.totals.size()) << name;
  for (std::size_t i = 0; i < expected.totals.size(); ++i) {
    EXPECT_EQ(actual.totals[i].loss, expected.totals[i].loss) << name;
    EXPECT_GT(actual.totals[i].loss, 2.5) << name << ": nothing was added";
    EXPECT_EQ(actual.totals[i].correct, expected.totals[i].correct) << name;
  }
}

/// Streams are lazy where the CPU plays the GPU: a wait that is missing shows.
TYPED_TEST(FusedLines, GiveTheSameBitsOnSeveralLanes) {
  using T = TypeParam;
#ifdef CUDA_ON_CPU
  const cuda_on_cpu::Settings before = cuda_on_cpu::settings();
#endif
  for (const Case& one : cases()) {
    const Model model = build_model(one.model);
    const TrainingPrograms training =
        build_training(model, {.learning_rate = 0.1, .l2 = 0.01}, one.workers);
    const Program fused = fuse<T>(training.step, max_rows, one.fusion);
    const auto run = [&](const Program& program) {
      MinibatchExecutor<T> executor;
      return outcome_of(executor, model, program, training.totals, one.model);
    };
    const Outcome<T> expected = run(fused);
#ifdef CUDA_ON_CPU
    cuda_on_cpu::settings().lazy_streams = true;
#endif
    expect_same_bits(run(assign_lanes(fused)), expected, one.name);
#ifdef CUDA_ON_CPU
    cuda_on_cpu::settings() = before;
#endif
  }
}

// ------------------------------------------------------------------------------- without gathering

/// Each worker reads its part of the batch, which is there already.
TYPED_TEST(FusedLines, GiveTheSameBitsOfABatchThatIsThere) {
  using T = TypeParam;
  for (const Case& one : cases()) {
    if (!one.fusion.gathers || one.model.name == "cnn") continue;
    const Model model = build_model(one.model);
    const TrainingPrograms training =
        build_training(model, {.learning_rate = 0.1, .l2 = 0.01}, one.workers);
    const Program there = without_gather(training.step, model.batch, model.batch_labels);
    const Texts names = names_of(there);
    EXPECT_EQ(std::count(names.begin(), names.end(), "gather"), 0) << one.name;

    Model gathering = model;
    gathering.program.lines.resize(1);
    ASSERT_STREQ(name_of(gathering.program.lines[0].operation), "gather");
    MinibatchExecutor<T> executor;
    Program step = fuse<T>(there, max_rows, {.layers = one.fusion.layers});
    step.lines.insert(step.lines.begin(), gathering.program.lines.front());
    const Outcome<T> actual = outcome_of(executor, model, step, training.totals, one.model);
    MinibatchExecutor<T> other;
    const Program usual =
        fuse<T>(training.step, max_rows, {.layers = one.fusion.layers, .gathers = false});
    expect_same_bits(actual, outcome_of(other, model, usual, training.totals, one.model), one.name);
  }
}

}  // namespace
}  // namespace stagewise

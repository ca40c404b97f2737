/// @file
/// Stage 04's rewrites: which lines they make of a program, and that these do the same.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/linear/linear.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "04_minibatch/output_layer/output_layer.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"
#include "network/dependencies.hpp"
#include "support.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

using minibatch::assign_lanes;
using minibatch::fuse;
using minibatch::FuseOptions;
using minibatch::LastLayer;
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
const ModelOptions neuron = {.name = "neuron", .sample = {1}, .classes = 2};

class Fusion : public GpuTest {};

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

// NOLINTEND(bugprone-suspicious-missing-comma)

/// What these read and write, FusedLines prove.
TEST_F(Fusion, MakesFewLinesOfEveryNetwork) {
  ModelOptions wide = mlp;  // what the last layer's kernel cannot take
  wide.classes = 33;
  for (const auto& [model, names] : std::vector<std::pair<ModelOptions, std::string>>{
           {table({20, 9}, Activation::sigmoid),
            "linear linear output_layer linear_input_gradient linear_gradients linear_gradients"},
           {table({20}, Activation::relu, LossKind::squared_error, false), "linear output_layer linear_gradients"},
           {table({}), "gather output_layer add_shares"},
           {neuron, "gather output_layer add_shares"},
           {cnn,
            "gather convolution_relu_pool convolution_relu_pool linear output_layer "
            "linear_input_gradient linear_gradients pool_relu_backward convolution_backward "
            "pool_relu_backward convolution_backward update_by_sum"},
           {wide,
            "linear linear loss linear_input_gradient linear_gradients linear_gradients "
            "add_partials"}}) {
    EXPECT_EQ(names_of(fuse<float>(step_of(model), 10)), names);
  }
  EXPECT_TRUE(minibatch::fits_output_layer<double>(1'000, 10));
  EXPECT_FALSE(minibatch::fits_output_layer<double>(1'000'000, 10));
}

TEST_F(Fusion, GoesAsFarAsAsked) {
  for (const auto& [fusion, names] : std::vector<std::pair<FuseOptions, std::string>>{
           {{.gathers = false}, "gather linear output_layer linear_gradients"},
           {{.layers = false},
            "gather gemm add_bias relu gemm add_bias loss column_sums gemm gemm relu_backward "
            "column_sums gemm update_by_sum add_partials"},
           {{.last_layer = LastLayer::loss},
            "linear linear loss linear_input_gradient linear_gradients linear_gradients "
            "add_partials"},
           {{.last_layer = LastLayer::warp_per_row},
            "linear output_layer linear_gradients linear_gradients add_partials"}}) {
    const Program step = fuse<float>(step_of(mlp), 100, fusion);
    EXPECT_EQ(names_of(step), names);
    const auto* const last = std::get_if<OutputLayer>(&step.lines[1].operation);
    EXPECT_EQ(last != nullptr && last->warp_per_row, fusion.last_layer == LastLayer::warp_per_row);
  }
  EXPECT_EQ(names_of(fuse<float>(step_of(cnn), 10, {.layers = false})),
            "gather convolution add_bias relu average_pool convolution add_bias relu average_pool "
            "gemm add_bias relu gemm add_bias loss column_sums gemm gemm relu_backward column_sums gemm "
            "gemm average_pool_backward relu_backward column_sums convolution_backward "
            "average_pool_backward relu_backward column_sums convolution_backward update_by_sum "
            "add_partials");
}

TEST_F(Fusion, FusesWhatWorkersExchange) {
  EXPECT_EQ(names_of(fuse<float>(step_of(table({20}), {.workers = 2}), 10)),
            "linear output_layer linear_gradients linear_gradients linear output_layer "
            "linear_gradients linear_gradients update_by_sum add_partials add_partials");
  const TrainingPrograms own =
      build_training(build_model(table({20})), {}, {.workers = 2, .average = Average::weights});
  EXPECT_EQ(names_of(fuse<float>(own.step, 10)),
            "linear output_layer linear_gradients linear output_layer linear_gradients");
  EXPECT_EQ(names_of(fuse<float>(own.mean, 10)), "average_weights");
  EXPECT_EQ(names_of(fuse<float>(own.take_over, 10)), "average_weights");
}

/// What comes out of the relu is kept for the way back only.
TEST_F(Fusion, KeepsWhatOnlyTrainingNeedsOnlyInTraining) {
  const Program prediction = fuse<float>(build_model(cnn).prediction(), 10);
  EXPECT_EQ(names_of(prediction), "convolution_relu_pool convolution_relu_pool linear linear argmax");
  EXPECT_EQ(texts_of(prediction).front(), "convolution_relu_pool  batch, conv1/filter, conv1/bias -> conv1/output");
}

// ----------------------------------------------------------------------------- what is left alone

/// The first line that writes a value.
std::vector<Line>::const_iterator line_that_writes(const Program& program, ValueId value) {
  return std::find_if(program.lines.begin(), program.lines.end(), [&](const Line& line) {
    const std::vector<ValueId> written = written_by(line.operation);
    return std::find(written.begin(), written.end(), value) != written.end();
  });
}

/// The names of the lines that are made of a step in which somebody else reads a value, before the
/// line that follows it. All of them must find what they read.
std::string names_with_reader_of(const std::string& name) {
  Program step = step_of(mlp);
  const ValueId read = named(step, name);
  Value copy = step[read];
  copy.name = "copy";
  copy.memory_of = {};
  const ValueId written = step.add(copy);
  const auto writer = line_that_writes(step, read);
  EXPECT_NE(writer, step.lines.end()) << name;
  step.lines.insert(writer + 1, Line{.operation = Copy{.x = read, .y = written}});
  expect_valid(step);
  const Program fused = fuse<float>(step, 100);
  EXPECT_NO_THROW(expect_valid(fused)) << name;
  return names_of(fused);
}

TEST_F(Fusion, KeepsWhatSomebodyElseReads) {
  for (const auto& [value, names] : std::vector<std::pair<std::string, std::string>>{
           {"fc1/product", "linear copy add_bias relu output_layer linear_gradients"},
           {"fc1/output", "linear copy output_layer linear_gradients"},  // written in any case
           {"fc2/output",
            "linear linear copy loss linear_input_gradient linear_gradients linear_gradients "
            "add_partials"},
           {"d fc1/output", "linear output_layer copy relu_backward linear_gradients"},
           {"d fc2/weight",
            "linear output_layer linear_gradients copy linear_gradients update_by_sum "
            "add_partials"},
           {"batch", "gather copy linear output_layer linear_gradients"}}) {
    EXPECT_EQ(names_with_reader_of(value), names) << value;
  }
}

/// Probabilities and row losses are nowhere, once the loss is fused.
TEST_F(Fusion, LeavesALossWhosePartsSomebodyReads) {
  for (const std::string name : {"probabilities", "row losses", "classes"}) {
    const std::string names = names_with_reader_of(name);
    EXPECT_NE(names.find(" softmax_cross_entropy "), std::string::npos) << names;
    EXPECT_EQ(names.find("add_partials"), std::string::npos) << names;
  }
}

// -------------------------------------------------------------- a line does what its members do

/// A training, and how it is fused.
struct Case {
  std::string name;
  ModelOptions model;
  WorkerOptions workers = {};
  FuseOptions fusion = {};
  Index rows = 10;            ///< of the largest batch
  bool sums_product = false;  ///< whether the last layer's product is a line of its own
  Index ties_from = -1;       ///< all outputs from here on are alike and the largest, if not -1
  double bad = 0;             ///< a feature that is no number, if not 0
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
          {"neuron of many features", {.name = "neuron", .sample = {37}, .classes = 2}},
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

/// Every line is there once, by itself or in what another one replaces; gathering as often as it is
/// needed.
TEST_F(Fusion, LosesNoLine) {
  for (const Case& one : cases()) {
    const Program step = step_of(one.model, one.workers);
    const Program fused = fuse<double>(step, one.rows, one.fusion);
    Texts found;
    for (const Line& line : fused.lines) {
      if (line.replaces.empty()) found.push_back(text_of(fused, line.operation));
      for (const Operation& member : line.replaces) found.push_back(text_of(fused, member));
    }
    Texts expected = texts_of(step);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    const auto end = std::unique(found.begin(), found.end(),
                                 [](const auto& a, const auto& b) { return a == b && a.starts_with("gather"); });
    found.erase(end, found.end());
    EXPECT_EQ(found, expected) << one.name;
  }
}

/// 1, primes, tiles and a little more or less.
Index random_size(Random& random) {
  constexpr std::array sizes = {1, 2, 3, 4, 7, 8, 13, 16, 31, 32, 33, 64, 65, 67, 100, 127, 128, 131};
  return sizes.at(random.below(sizes.size()));
}

/// Any perceptron, fused in any way.
Case random_case(Random& random) {
  const auto coin = [&] { return random.below(2) == 1; };
  Case one = {.name = "of random shape"};
  one.model.activation = coin() ? Activation::relu : Activation::sigmoid;
  one.model.loss = coin() ? LossKind::cross_entropy : LossKind::squared_error;
  one.model.biases = coin();
  one.model.hidden.resize(random.below(4));
  for (Index& units : one.model.hidden) units = random_size(random);
  one.model.sample = {random_size(random)};
  one.model.classes = static_cast<int>(2 + random.below(35));
  one.workers.workers = coin() ? 1 : 3;
  one.fusion.gathers = coin();
  one.fusion.last_layer = coin() ? LastLayer::shares : LastLayer{static_cast<int>(random.below(2))};
  one.rows = random_size(random);
  one.sums_product = coin() && one.workers.workers == 1 && one.fusion.last_layer == LastLayer::shares;
  return one;
}

/// Where kernels go another way: as many classes as lanes share, rows that several warps share, and
/// more of them than a grid or its shared memory takes at once; outputs that are alike, and others
/// that are no numbers.
std::vector<Case> extremes() {
  const auto perceptron = [](Index in, std::vector<Index> hidden, int classes) {
    return ModelOptions{.hidden = std::move(hidden), .sample = {in}, .classes = classes};
  };
  const FuseOptions loss = {.last_layer = LastLayer::loss};
  const FuseOptions warp_per_row = {.last_layer = LastLayer::warp_per_row};
  const Index multiprocessors = cuda::multiprocessors();
  std::vector<Case> all;
  for (int classes = 2; classes <= 70; ++classes) {
    all.push_back({"classes", perceptron(3, {9}, classes), {}, {}, 11, classes % 2 == 0});
    if (classes > 32) continue;
    all.push_back({"classes, loss", perceptron(3, {}, classes), {}, loss});
    all.push_back({"classes, warps", perceptron(3, {9}, classes), {}, warp_per_row, 60});
  }
  for (const Index units : {128, 129, 513, 1'025, 2'049}) {
    all.push_back({"shared rows", perceptron(2, {units}, 10), {}, {}, 60, units % 2 == 0});
    all.push_back({"units", perceptron(units, {3, 2}, 2), {}, {}, 3});
  }
  for (const Index more : {-1, 1}) {
    all.push_back({"rows", perceptron(2, {1'000}, 10), {}, {}, 48 * multiprocessors + more});
    all.push_back({"rows of warps", perceptron(2, {}, 10), {}, warp_per_row, 64 * multiprocessors + more});
    all.push_back({"rows of losses", perceptron(2, {}, 3), {}, loss, 64 * multiprocessors + more});
  }
  all.push_back({"rows of losses, twice", perceptron(2, {}, 3), {}, loss, 128 * multiprocessors + 13});
  for (const int classes : {32, 70}) {
    for (const Index first : {0, 1, 31, 32, 33, 63, 64, 68}) {
      if (first >= classes) continue;
      for (const FuseOptions& fusion : {FuseOptions(), loss, warp_per_row}) {
        all.push_back(
            {.name = "ties", .model = perceptron(2, {}, classes), .fusion = fusion, .rows = 600, .ties_from = first});
      }
    }
  }
  for (const FuseOptions& fusion : {FuseOptions(), loss, warp_per_row}) {
    for (const LossKind kind : {LossKind::cross_entropy, LossKind::squared_error}) {
      for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        ModelOptions model = perceptron(13, {5}, 3);
        model.loss = kind;
        all.push_back({.name = "no number", .model = model, .fusion = fusion, .bad = bad});
      }
    }
  }
  return all;
}

/// Large ones: for these, an H200 picks each tile of double but 16 x 16, forward and for gradients.
/// On a CPU, those that take no more than seconds.
std::vector<Case> layers_of_trainings() {
  struct Layer {
    Index rows, in, out;
  };
  constexpr Index most_on_cpu = 40'000'000;
  std::vector<Case> all;
  for (const auto [rows, in, out] :
       {Layer{64, 784, 500}, Layer{48, 784, 1000}, Layer{800, 48, 500}, Layer{800, 48, 1000}, Layer{32, 2000, 1000},
        Layer{400, 784, 500}, Layer{800, 784, 334}, Layer{1000, 784, 256}, Layer{1600, 400, 250}, Layer{3200, 784, 250},
        Layer{8000, 100, 250}}) {
    if (cuda::runs_on_cpu() && rows * in * out > most_on_cpu) continue;
    all.push_back({.name = "large", .model = {.hidden = {out}, .sample = {in}, .classes = 4}, .rows = rows});
  }
  return all;
}

/// Data on the device, of which some samples are in no batch, and where an executor finds them. The
/// features may not begin where memory for vectors does.
template <typename T>
class Samples {
 public:
  explicit Samples(const Case& one) : shift_(one.rows % 2) {
    const Index count = 2 * one.rows + 9;
    const Index width = one.model.sample.elements();
    Random random(3);
    std::vector<std::uint32_t> order(static_cast<std::size_t>(2 * one.rows + 2));
    for (std::uint32_t& sample : order) {
      sample = static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(count)));
    }
    std::vector<T> features = random_values<T>(count * width + shift_, 1);
    const Index bad_sample = order[static_cast<std::size_t>(one.rows / 2)];
    T& some = features[static_cast<std::size_t>(shift_ + bad_sample * width + width / 2)];
    if (one.bad != 0) some = static_cast<T>(one.bad);
    features_.emplace(features);
    labels_.emplace(random_labels(count, one.model.classes, 2));
    order_.emplace(order);
  }

  /// @param first place in the order.
  void bind_to(MinibatchExecutor<T>& executor, const Model& model, Index first) {
    executor.bind(model.features, features_->get() + shift_);
    executor.bind(model.labels, labels_->get());
    executor.bind(model.order, order_->get() + first);
    executor.read_from_device();
  }

 private:
  std::optional<CudaArray<T>> features_;
  std::optional<CudaArray<std::int32_t>> labels_;
  std::optional<CudaArray<std::uint32_t>> order_;
  Index shift_;
};

/// The rows' part of a value, copied out.
template <typename Element, typename T>
std::vector<Element> copy_of(MinibatchExecutor<T>& executor, const Program& program, ValueId id, Index rows) {
  std::vector<Element> values(static_cast<std::size_t>(elements_of(program[id], rows)));
  if (!values.empty()) {
    executor.copy_out(values.data(), executor.template data<Element>(id), values.size() * sizeof(Element));
  }
  return values;
}

template <typename T, typename Element>
void copy_into(MinibatchExecutor<T>& executor, ValueId id, const std::vector<Element>& values) {
  if (values.empty()) return;
  executor.copy_in(executor.template data<Element>(id), values.data(), values.size() * sizeof(Element));
}

/// All that somebody has written, and random parameters; the rest is NaN.
template <typename T>
void fill(MinibatchExecutor<T>& executor, const Program& program, const Case& one) {
  for (int i = 0; i < static_cast<int>(program.values.size()); ++i) {
    const Value& value = program[{i}];
    if (value.memory_of || value.role == Role::data || executor.data({i}) == nullptr) continue;
    const Index n = elements_of(value, one.rows);
    if (is_parameter(value.role)) {
      std::vector<T> start = random_values<T>(n, static_cast<std::uint64_t>(i), -0.4, 0.4);
      if (one.ties_from >= 0) {
        std::fill(start.begin(), start.end(), T{0});
        if (value.role == Role::bias) std::fill(start.begin() + one.ties_from, start.end(), T{1});
      }
      copy_into(executor, {i}, start);
    } else if (value.type == Type::totals) {
      const std::int64_t first_bad_step = one.rows % 3 == 0 ? 0 : -1;  // which counts
      copy_into(executor, {i}, std::vector<Totals>(1, {2.5, 7, first_bad_step}));
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
      : name_(describe(one)), model_(std::move(model)), fused_(fused), samples_(one) {
    EXPECT_NO_THROW(expect_valid(fused));
    members_.values = fused.values;
    for (const Line& line : fused.lines) {
      if (line.replaces.empty()) members_.append(line.operation);
      for (const Operation& member : line.replaces) members_.append(member);
    }
    actual_.load(fused_, one.rows);
    expected_.load(members_, one.rows);
    fill(actual_, fused_, one);
    fill(expected_, fused_, one);
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
        // The members have no partials and no shares.
        if (line_that_writes(members, id) != members.lines.end()) compare(line, id, batch.rows);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  /// The names of the fused lines that were executed.
  const std::set<std::string>& seen() const { return seen_; }

 private:
  /// The sums are at most as long as the longest side of an operand.
  double units(const Line& line, Index rows) const {
    if (std::holds_alternative<AverageWeights>(line.operation)) return 2;  // each rounds its own way
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
    const std::string what =
        name_ + ", " + std::to_string(rows) + " rows, " + text_of(fused_, line.operation) + ", " + fused_[id].name;
    const double bound = units(line, rows);
    if (fused_[id].type == Type::totals) {
      const auto actual = copy_of<Totals>(actual_, fused_, id, rows).front();
      const auto expected = copy_of<Totals>(expected_, fused_, id, rows).front();
      if (std::isfinite(expected.loss)) {
        EXPECT_EQ(actual.correct, expected.correct) << what;
      }
      EXPECT_EQ(actual.first_bad_step, expected.first_bad_step) << what;
      expect_within_units<T>(what + ", loss", bound, {static_cast<T>(actual.loss)}, {static_cast<T>(expected.loss)});
      copy_into(expected_, id, std::vector<Totals>{actual});
    } else if (fused_[id].type == Type::real) {
      const auto actual = copy_of<T>(actual_, fused_, id, rows);
      constexpr double least = 0.001;  // sums whose terms cancel out are no better than their terms
      expect_within_units(what, bound, actual, copy_of<T>(expected_, fused_, id, rows), least);
      copy_into(expected_, id, actual);
    }
  }

  static std::string describe(const Case& one) {
    std::string text = one.name + ", " + std::to_string(one.model.sample.elements());
    for (const Index units : one.model.hidden) text += "-" + std::to_string(units);
    return text + "-" + std::to_string(one.model.classes) + ", " + std::to_string(one.workers.workers) +
           " workers, batches of " + std::to_string(one.rows);
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
class FusedLines : public GpuTest {};
TYPED_TEST_SUITE(FusedLines, Precisions, PrecisionNames);

/// What fuse() makes where processes would add up the product of the last layer in between.
template <typename T>
Program fuse_around_sum(Program step, const Case& one) {
  const auto is_forward = [](const Line& line) {
    const auto* const gemm = std::get_if<Gemm>(&line.operation);
    return gemm != nullptr && gemm->op_a == Transpose::no && gemm->op_b == Transpose::no;
  };
  const auto behind = std::find_if(step.lines.rbegin(), step.lines.rend(), is_forward).base();
  const ValueId product = std::get<Gemm>((behind - 1)->operation).c;
  step.lines.insert(behind, Line{.operation = AllReduce{.values = {product}}});
  Program fused = fuse<T>(step, one.rows, one.fusion);
  std::erase_if(fused.lines, [](const Line& line) {
    return std::holds_alternative<AllReduce>(line.operation);  // of one process
  });
  return fused;
}

/// Expects this of all lines of some trainings, in a full batch, one that nothing divides, and one
/// of fewer samples than workers.
/// @return the names of the fused lines that were executed.
template <typename T>
std::set<std::string> expect_lines_compute_what_they_replace(const std::vector<Case>& cases) {
  std::set<std::string> seen;
  for (const Case& one : cases) {
    const Model model = build_model(one.model);
    const TrainingPrograms training = build_training(model, {.learning_rate = 0.01, .l2 = 0.1}, one.workers);
    for (const Program* program : {&training.step, &training.mean, &training.take_over}) {
      if (program->lines.empty()) continue;
      LineByLine<T> lines(
          one, model, one.sums_product ? fuse_around_sum<T>(*program, one) : fuse<T>(*program, one.rows, one.fusion));
      lines.run({.rows = one.rows});
      if (one.rows < 150 && one.bad == 0) {  // else long enough
        lines.run({.first = one.rows, .rows = (7 * one.rows + 9) / 10, .step = 2});
        lines.run({.first = 2 * one.rows, .rows = std::min<Index>(one.rows, 2), .step = 3});
      }
      if (testing::Test::HasFatalFailure()) return {};
      seen.insert(lines.seen().begin(), lines.seen().end());
    }
  }
  return seen;
}

TYPED_TEST(FusedLines, ComputeWhatTheyReplace) {
  EXPECT_EQ(expect_lines_compute_what_they_replace<TypeParam>(cases()),
            (std::set<std::string>{"add_partials", "add_shares", "average_weights", "convolution_relu_pool", "linear",
                                   "linear_gradients", "linear_input_gradient", "loss", "output_layer",
                                   "pool_relu_backward", "update_by_sum"}));
}

TYPED_TEST(FusedLines, OfRandomShapesComputeWhatTheyReplace) {
  Random random(41);
  std::vector<Case> all;
  for (int i = 0; i < shapes_per_rung(); ++i) all.push_back(random_case(random));
  expect_lines_compute_what_they_replace<TypeParam>(all);
}

TYPED_TEST(FusedLines, OfExtremeShapesComputeWhatTheyReplace) {
  expect_lines_compute_what_they_replace<TypeParam>(extremes());
}

TYPED_TEST(FusedLines, OfLargeLayersComputeWhatTheyReplace) {
  if (is_in_a_slow_preset()) GTEST_SKIP() << "These take long here.";
  expect_lines_compute_what_they_replace<TypeParam>(layers_of_trainings());
}

/// Over all of the range in which it is neither 0 nor 1, and far outside.
TYPED_TEST(FusedLines, HaveTheSigmoidOfTheFormula) {
  Workspace workspace;
  constexpr double end = sizeof(TypeParam) == 8 ? 707 : 86;
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  std::vector<TypeParam> values = random_values<TypeParam>(4000, 1, -end, end);
  for (const TypeParam value : random_values<TypeParam>(4000, 2, -4, 4)) values.push_back(value);
  values.insert(values.end(), {-infinity, infinity, TypeParam(-2 * end), TypeParam(2 * end),
                               std::numeric_limits<TypeParam>::lowest(), TypeParam{0}});
  CudaArray input(values);
  CudaArray weight(std::vector<TypeParam>{1});
  CudaArray output(poison<TypeParam>(std::ssize(values)));
  minibatch::linear<TypeParam>(nullptr,
                               {.rows = std::ssize(values),
                                .in = 1,
                                .out = 1,
                                .input = input.get(),
                                .weight = weight.get(),
                                .activation = Activation::sigmoid,
                                .output = output.get()},
                               workspace);
  const std::vector<TypeParam> result = output.read();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto expected = static_cast<double>(1 / (1 + std::exp(-static_cast<long double>(values[i]))));
    const double units = 3 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
    const double tiny = 2 * static_cast<double>(std::numeric_limits<TypeParam>::min());
    EXPECT_NEAR(result[i], expected, units * expected + tiny) << values[i];
  }
}

// ---------------------------------------------------------------------------------- side by side

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
      const Program result = assign_lanes(fuse<float>(*program, one.rows, one.fusion));
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
  Program result = assign_lanes(fuse<float>(step_of(table({20, 9})), 10));
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
  EXPECT_EQ(lanes_of(fuse<float>(step_of(table({20, 9})), 10)), (std::vector<int>{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(lanes_of(fuse<float>(step_of(table({})), 10)), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(lanes_of(fuse<float>(step_of(table({20}), {.workers = 2}), 10)),
            (std::vector<int>{0, 0, 1, 0, 2, 2, 3, 2, 0, 1, 3}));
}

}  // namespace
}  // namespace stagewise

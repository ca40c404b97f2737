#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/average_pool.hpp"
#include "01_serial/convolution.hpp"
#include "01_serial/reduce.hpp"
#include "ladders/transpose/serial.hpp"
#include "network/differentiate.hpp"
#include "network/layers.hpp"
#include "unit/gradient_check.hpp"
#include "unit/observed_executor.hpp"

namespace stagewise {
namespace {

/// What a comparison of backpropagation with finite differences must stay below.
constexpr double bound = 1e-6;

using Faulty = ObservedExecutor<double>;
using Fault = Faulty::Fault;

/// Expects backpropagation to agree with finite differences for as many parameters.
void expect_agreement(const std::vector<GradientDifference>& differences, std::size_t parameters) {
  ASSERT_EQ(differences.size(), parameters);
  ASSERT_FALSE(differences.empty());
  for (const GradientDifference& difference : differences) {
    EXPECT_GT(difference.largest_gradient, 1e-4)
        << "nothing was tested of " << difference.parameter;
    EXPECT_LE(difference.relative, bound)
        << difference.parameter << ": " << difference.backpropagated << " instead of "
        << difference.numerical << " in element " << difference.worst;
  }
}

bool agrees(const std::vector<GradientDifference>& differences) {
  return std::all_of(differences.begin(), differences.end(),
                     [](const auto& difference) { return difference.relative <= bound; });
}

// ------------------------------------------------------------------------------------- operations

/// Some operations between samples and a loss, all parameters at random.
struct Case : Workbench<double> {
  Case(const Shape& sample, std::int32_t class_count, Index row_count)
      : rows(row_count), classes(class_count) {
    input = add_input("input", random_values<double>(rows * sample.elements(), 2, -1, 1.5), sample);
  }

  ValueId parameter(const std::string& name, const Shape& shape) {
    return add_parameter(name, random_values<double>(shape.elements(), ++seed, -0.8, 1), shape);
  }

  ValueId gemm(const std::string& name, ValueId from, Index out) {
    const Index in = program[from].shape.elements();
    const ValueId product = add(name, {out});
    program.append(Gemm{.a = from, .b = parameter(name + "/weight", {in, out}), .c = product});
    return product;
  }

  /// An operation `Op{from, to}` that keeps the shape.
  template <typename Op>
  ValueId elementwise(const std::string& name, ValueId from) {
    const ValueId to = add(name, program[from].shape);
    program.append(Op{from, to});
    return to;
  }

  ValueId add_bias(const std::string& name, ValueId from) {
    const Shape shape = program[from].shape;
    const ValueId to = add(name, shape);
    const ValueId bias = parameter(name + "/bias", {shape[shape.rank() - 1]});
    program.append(AddBias{.x = from, .bias = bias, .y = to});
    return to;
  }

  ValueId convolution(const std::string& name, ValueId from, const Shape& filter) {
    const Shape& image = program[from].shape;
    const Shape shape = {image[0] - filter[0] + 1, image[1] - filter[1] + 1, filter[3]};
    const ValueId to = add(name, shape);
    program.append(
        Convolution{.input = from, .filter = parameter(name + "/filter", filter), .output = to});
    return to;
  }

  void cross_entropy(ValueId outputs) {
    row_losses = add("row losses", {});
    program.append(
        SoftmaxCrossEntropy{.logits = outputs,
                            .labels = add_labels(random_labels(rows, classes, 1)),
                            .probabilities = add("probabilities", program[outputs].shape),
                            .row_losses = row_losses});
  }

  void squared_error(ValueId outputs) {
    row_losses = add("row losses", {});
    program.append(SquaredError{.outputs = outputs,
                                .labels = add_labels(random_labels(rows, classes, 1)),
                                .row_losses = row_losses});
  }

  /// A fully connected layer behind images, and the loss.
  void classify(ValueId images) { cross_entropy(gemm("outputs", images, 3)); }

  std::vector<GradientDifference> check() {
    const Differentiated both = differentiate(program, row_losses);
    load(both.program, rows);
    return check_gradients(*executor, program, both, row_losses, rows);
  }

  Index rows;
  std::int32_t classes;
  ValueId input;
  ValueId row_losses;
  std::uint64_t seed = 2;
};

/// Adds operations between the input and the loss.
using Builder = std::function<void(Case&)>;

struct OperationCase {
  std::string name;
  Shape sample;
  std::int32_t classes;
  Builder build;
};

/// Three layers: the second one's input gradient is the first one's own.
Builder linear(Activation activation, bool with_bias) {
  return [=](Case& c) {
    ValueId layer = c.input;
    const std::array<Index, 4> widths = {4, 5, 2, 3};
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      const std::string name = "layer" + std::to_string(i);
      const ValueId weight = c.parameter(name + "/weight", {widths[i], widths[i + 1]});
      const ValueId bias = with_bias ? c.parameter(name + "/bias", {widths[i + 1]}) : ValueId();
      layer = append_linear(c.program, name, layer, weight, bias, activation);
    }
    c.cross_entropy(layer);
  };
}

/// Pooling behind a convolution, without which nothing would ask for its input gradient.
Builder average_pool(Index window) {
  return [=](Case& c) {
    const ValueId images = c.convolution("images", c.input, {1, 1, 2, 3});
    const Shape& shape = c.program[images].shape;
    const ValueId pooled = c.add("pool", {shape[0] / window, shape[1] / window, shape[2]});
    c.program.append(AveragePool{.input = images, .output = pooled, .window = window});
    c.classify(pooled);
  };
}

/// Two layers of a cnn: windows of 2x2 pixels and of 1x1.
Builder convolution_relu_pool(bool with_bias) {
  return [=](Case& c) {
    ValueId layer = c.input;
    const auto append = [&](const std::string& name, const Shape& shape, Index window) {
      const ValueId filter = c.parameter(name + "/filter", shape);
      const ValueId bias = with_bias ? c.parameter(name + "/bias", {shape[3]}) : ValueId();
      layer = append_convolution_relu_pool(c.program, name, layer, filter, bias, window);
    };
    append("conv1", {4, 2, 2, 3}, 2);
    append("conv2", {2, 1, 3, 2}, 1);
    c.classify(layer);
  };
}

const std::vector<OperationCase>& operation_cases() {
  static const std::vector<OperationCase> cases = {
      {"Gemm",
       {4},
       3,
       [](Case& c) { c.cross_entropy(c.gemm("second", c.gemm("first", c.input, 2), 3)); }},
      {"AddBias",
       {4},
       3,
       [](Case& c) { c.cross_entropy(c.add_bias("sum", c.gemm("product", c.input, 3))); }},
      {"Relu",
       {4},
       3,
       [](Case& c) {
         c.cross_entropy(c.elementwise<Relu>("relu", c.gemm("product", c.input, 3)));
       }},
      {"Sigmoid",
       {4},
       3,
       [](Case& c) {
         c.cross_entropy(c.elementwise<Sigmoid>("sigmoid", c.gemm("product", c.input, 3)));
       }},
      {"ImageAsARow",
       {2, 3, 2},
       3,
       [](Case& c) { c.classify(c.elementwise<Relu>("relu", c.add_bias("shift", c.input))); }},
      {"ConvolutionOfAConvolution",
       {5, 6, 2},
       3,
       [](Case& c) {
         const ValueId first = c.convolution("first", c.input, {2, 3, 2, 3});
         c.classify(c.convolution("second", first, {3, 2, 3, 2}));
       }},
      {"AveragePool", {4, 6, 2}, 3, average_pool(2)},
      {"AveragePoolOfLargeWindows", {3, 6, 2}, 3, average_pool(3)},
      {"ConvolutionReluPoolWithBias", {7, 5, 2}, 3, convolution_relu_pool(true)},
      {"ConvolutionReluPoolWithoutBias", {7, 5, 2}, 3, convolution_relu_pool(false)},
      {"LinearWithBias", {4}, 3, linear(Activation::none, true)},
      {"LinearWithoutBias", {4}, 3, linear(Activation::none, false)},
      {"LinearReluWithBias", {4}, 3, linear(Activation::relu, true)},
      {"LinearReluWithoutBias", {4}, 3, linear(Activation::relu, false)},
      {"LinearSigmoidWithBias", {4}, 3, linear(Activation::sigmoid, true)},
      {"LinearSigmoidWithoutBias", {4}, 3, linear(Activation::sigmoid, false)},
      {"SoftmaxCrossEntropy",
       {4},
       7,
       [](Case& c) { c.cross_entropy(c.gemm("product", c.input, 7)); }},
      {"SquaredErrorOfOneOutput",
       {4},
       3,
       [](Case& c) { c.squared_error(c.gemm("product", c.input, 1)); }},
      {"SquaredErrorOfSeveralOutputs",
       {4},
       3,
       [](Case& c) { c.squared_error(c.gemm("product", c.input, 3)); }},
      {"ParameterThatTwoLayersRead",
       {3},
       3,
       [](Case& c) {
         const ValueId twice = c.parameter("twice/weight", {3, 3});
         const ValueId bias = c.parameter("twice/bias", {3});
         const ValueId once = c.parameter("once/weight", {3, 3});
         ValueId layer =
             append_linear(c.program, "first", c.input, twice, bias, Activation::sigmoid);
         layer = append_linear(c.program, "second", layer, once, {}, Activation::relu);
         c.cross_entropy(append_linear(c.program, "third", layer, twice, bias, Activation::none));
       }},
      {"ValuesThatSeveralRead",
       {3},
       3,
       [](Case& c) {
         // Three layers, whose weights are made one from the other: w, w + b, sigmoid(w + b).
         const auto add = [&](const std::string& name) {
           return c.program.add({.name = name, .shape = {3, 3}});
         };
         const ValueId product = add("w");
         const ValueId sum = add("w + b");
         const ValueId sigmoid = add("sigmoid(w + b)");
         const ValueId left = c.parameter("left", {3, 3});
         const ValueId right = c.parameter("right", {3, 3});
         c.program.append(Gemm{.a = left, .b = right, .c = product});
         c.program.append(AddBias{.x = product, .bias = c.parameter("bias", {3}), .y = sum});
         c.program.append(Sigmoid{.x = sum, .y = sigmoid});
         ValueId layer = c.input;
         for (const ValueId weight : {product, sum, sigmoid}) {
           const ValueId next = c.add("x " + c.program[weight].name, {3});
           c.program.append(Gemm{.a = layer, .b = weight, .c = next});
           layer = next;
         }
         c.cross_entropy(layer);
       }},
  };
  return cases;
}

class OperationGradient : public testing::TestWithParam<OperationCase> {};

TEST_P(OperationGradient, AgreesWithFiniteDifferences) {
  for (const Index rows : {7, 1}) {
    Case c(GetParam().sample, GetParam().classes, rows);
    GetParam().build(c);
    expect_agreement(c.check(), c.parameters.size());
  }
}

INSTANTIATE_TEST_SUITE_P(, OperationGradient, testing::ValuesIn(operation_cases()),
                         [](const auto& test) { return test.param.name; });

// ----------------------------------------------------------------------------------------- models

struct ModelCase {
  std::string name;
  ModelOptions options;
  Index rows;  ///< of 6 that the network is built for
};

std::vector<ModelCase> model_cases() {
  std::vector<ModelCase> cases;
  const std::vector<std::vector<Index>> widths = {{}, {7}, {7, 4}, {7, 4, 5}};
  for (const auto& [activation, activation_name, backward] : activations) {
    for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared_error}) {
      for (const std::vector<Index>& hidden : widths) {
        for (const Index rows : {6, 2}) {
          const std::string name =
              std::string(activation_name) +
              (loss == LossKind::cross_entropy ? "_cross_entropy_" : "_squared_error_") +
              std::to_string(hidden.size()) + "_hidden_" + std::to_string(rows) + "_rows";
          cases.push_back({"mlp_" + name,
                           {.name = "mlp",
                            .hidden = hidden,
                            .activation = activation,
                            .loss = loss,
                            .sample = {3, 2, 1},
                            .classes = 3},
                           rows});
        }
      }
    }
  }
  for (const Index rows : {6, 2}) {
    cases.push_back({"neuron_" + std::to_string(rows) + "_rows",
                     {.name = "neuron", .sample = {3}, .classes = 2},
                     rows});
  }
  return cases;
}

/// A model with random parameters and samples, and its gradients.
struct ModelCheck {
  ModelCheck(const ModelOptions& options, Index row_count, Index max_rows, const Fault& fault = {})
      : rows(row_count),
        network(make_network<double>(options, max_rows, std::make_unique<Faulty>(fault))),
        both(differentiate(network.model.program, network.model.row_losses)),
        data(options.sample, options.classes,
             random_values<double>(rows * options.sample.elements(), 2, -1, 1.5),
             random_labels(rows, options.classes, 1)) {
    for (Index i = 0; i < rows; ++i) order.push_back(static_cast<std::uint32_t>(i));
    network.executor->load(both.program, max_rows);
    network.executor->read_from(data, order);
    std::uint64_t seed = 2;
    for (const ValueId id : network.model.parameters) set(id, ++seed, -0.8, 1);
  }

  void set(ValueId parameter, std::uint64_t seed, double low, double high) const {
    const Index n = network.model[parameter].shape.elements();
    const auto values = random_values<double>(n, seed, low, high);
    std::copy(values.begin(), values.end(), network.executor->data(parameter));
  }

  std::vector<GradientDifference> check() const {
    return check_gradients(*network.executor, network.model.program, both, network.model.row_losses,
                           rows);
  }

  Index rows;
  Network<double> network;
  Differentiated both;
  Dataset data;
  std::vector<std::uint32_t> order;
};

class ModelGradient : public testing::TestWithParam<ModelCase> {};

TEST_P(ModelGradient, AgreesWithFiniteDifferences) {
  ModelCheck model(GetParam().options, GetParam().rows, 6);
  expect_agreement(model.check(), model.network.model.parameters.size());
}

INSTANTIATE_TEST_SUITE_P(, ModelGradient, testing::ValuesIn(model_cases()),
                         [](const auto& test) { return test.param.name; });

/// The whole cnn has some 60,000 parameters: a few of each set are enough to see that its layers
/// are put together rightly, since each kind of layer has been looked at in full above.
class CnnGradient : public testing::TestWithParam<bool> {};

TEST_P(CnnGradient, AgreesWithFiniteDifferences) {
  constexpr Index rows = 2;
  constexpr int checked = 12;
  constexpr double h = 1e-5;
  ModelCheck cnn({.name = "cnn", .biases = GetParam(), .sample = {16, 20, 2}, .classes = 3}, rows,
                 rows);
  const Model& model = cnn.network.model;
  Executor<double>& executor = *cnn.network.executor;
  // Values of the size that training starts from: with larger ones all probabilities are 0 or 1.
  for (const ValueId id : model.parameters) {
    const Shape& shape = model[id].shape;
    const Index inputs = shape.elements() / shape[shape.rank() - 1];
    const double limit =
        model[id].role == Role::bias ? 0.1 : std::sqrt(6 / static_cast<double>(inputs));
    cnn.set(id, 30, -limit, limit);
  }
  ASSERT_EQ(model.parameters.size(), GetParam() ? 8U : 4U);

  executor.execute(cnn.both.program, {.rows = rows});
  const auto mean_loss = [&] {
    executor.execute(model.program, {.rows = rows});
    const double* const losses = executor.data(model.row_losses);
    return (losses[0] + losses[1]) / rows;
  };
  Random random(31);
  for (const ValueId id : model.parameters) {
    const std::string& name = model[id].name;
    double largest_gradient = 0;
    double largest_difference = 0;
    for (int i = 0; i < checked; ++i) {
      const auto elements = static_cast<std::uint64_t>(model[id].shape.elements());
      const auto at = static_cast<Index>(random.below(elements));
      double& value = executor.data(id)[at];
      const double original = value;
      value = original + h;
      const double above = mean_loss();
      value = original - h;
      const double below = mean_loss();
      value = original;
      const double numerical = (above - below) / (2 * h);
      const double apart = std::abs(numerical - executor.data(cnn.both.gradient_of(id))[at]);
      largest_gradient = std::max(largest_gradient, std::abs(numerical));
      if (!(apart <= largest_difference)) largest_difference = apart;  // also where it is NaN
    }
    EXPECT_GT(largest_gradient, 1e-4) << "nothing was tested of " << name;
    EXPECT_LE(largest_difference, bound * largest_gradient) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(, CnnGradient, testing::Bool(), [](const auto& test) {
  return test.param ? "WithBiases" : "WithoutBiases";
});

// --------------------------------------------------------------------------------------- sabotage

/// Multiplies the values of an operand.
void multiply(Faulty& executor, ValueId id, double factor) {
  double* const x = executor.data(id);
  std::transform(x, x + executor.elements(id), x, [=](double value) { return factor * value; });
}

/// The operation, and then one of its results multiplied.
template <typename Op, typename Result>
Fault multiplied(Result Op::*result, double factor) {
  return instead_of<Op>([=](Faulty& executor, const Op& op) {
    executor.compute(op);
    multiply(executor, op.*result, factor);
  });
}

/// Replaces values by others, by a function from a copy of them.
template <typename Work>
void rework(Faulty& executor, ValueId id, const Work& work) {
  double* const x = executor.data(id);
  const std::vector<double> before(x, x + executor.elements(id));
  work(before, x);
}

const Fault cross_entropy_without_the_mean = instead_of<SoftmaxCrossEntropyBackward>(
    [](Faulty& executor, const SoftmaxCrossEntropyBackward& op) {
      executor.compute(op);
      multiply(executor, op.dlogits, static_cast<double>(executor.batch_rows(op.dlogits)));
    });

const Fault cross_entropy_of_the_neighbour = instead_of<SoftmaxCrossEntropyBackward>(
    [](Faulty& executor, const SoftmaxCrossEntropyBackward& op) {
      auto* const labels = executor.data<std::int32_t>(op.labels);
      const Index rows = executor.rows(op.dlogits);
      std::rotate(labels, labels + 1, labels + rows);
      executor.compute(op);
      std::rotate(labels, labels + rows - 1, labels + rows);
    });

const Fault bias_gradient_that_is_zero =
    instead_of<ColumnSums>([](Faulty& executor, const ColumnSums& op) {
      std::fill_n(executor.data(op.y), executor.elements(op.y), 0.0);
    });

const Fault bias_gradient_without_the_last_row =
    instead_of<ColumnSums>([](Faulty& executor, const ColumnSums& op) {
      const Index columns = executor.columns(op.y);
      serial::column_sums(executor.elements(op.x) / columns - 1, columns, executor.data(op.x),
                          executor.data(op.y));
    });

const Fault bias_gradient_with_a_nan =
    instead_of<ColumnSums>([](Faulty& executor, const ColumnSums& op) {
      executor.compute(op);
      executor.data(op.y)[executor.columns(op.y) / 2] = std::numeric_limits<double>::quiet_NaN();
    });

template <typename Op>
Fault forgotten() {
  return instead_of<Op>([](Faulty& /*executor*/, const Op& /*op*/) {});
}

const Fault weight_gradient_transposed = instead_of<Gemm>([](Faulty& executor, const Gemm& op) {
  executor.compute(op);
  if (op.op_a == Transpose::no) return;
  rework(executor, op.c, [&](const std::vector<double>& gradient, double* c) {
    serial::transpose(executor.rows(op.c), executor.columns(op.c), gradient.data(), c);
  });
});

const Fault input_gradient_with_weights_as_stored =
    instead_of<Gemm>([](Faulty& executor, const Gemm& op) {
      Gemm wrong = op;
      wrong.op_b = Transpose::no;
      executor.compute(wrong);
    });

/// The gradient that came last, instead of the sum of all.
const Fault gradients_that_are_not_added_up = instead_of<Sum>([](Faulty& executor, const Sum& op) {
  executor.compute(Sum{.terms = {op.terms.back()}, .sum = op.sum});
});

const Fault filter_gradient_without_the_last_image =
    instead_of<ConvolutionBackward>([](Faulty& executor, const ConvolutionBackward& op) {
      executor.compute(op);
      ConvolutionProblem fewer = executor.problem(op.input, op.filter);
      --fewer.batch;
      serial::convolution_backward<double>(fewer, executor.data(op.input), executor.data(op.filter),
                                           executor.data(op.doutput), nullptr,
                                           executor.data(op.dfilter));
    });

const Fault image_gradient_with_a_wrong_pixel =
    instead_of<ConvolutionBackward>([](Faulty& executor, const ConvolutionBackward& op) {
      executor.compute(op);
      if (!op.dinput) return;
      double* const dinput = executor.data(op.dinput);
      const Index in = executor.problem(op.input, op.filter).in;
      std::rotate(dinput, dinput + in, dinput + 2 * in);
    });

const Fault image_gradient_forgotten =
    instead_of<ConvolutionBackward>([](Faulty& executor, const ConvolutionBackward& op) {
      executor.compute(op);
      if (op.dinput) multiply(executor, op.dinput, 0);
    });

const Fault pool_gradient_without_the_mean =
    instead_of<AveragePoolBackward>([](Faulty& executor, const AveragePoolBackward& op) {
      executor.compute(op);
      multiply(executor, op.dinput, static_cast<double>(op.window * op.window));
    });

const Fault pool_gradient_of_the_neighbour =
    instead_of<AveragePoolBackward>([](Faulty& executor, const AveragePoolBackward& op) {
      const PoolingProblem problem = executor.pooling(op.dinput, op.window);
      const double* const doutput = executor.data(op.doutput);
      std::vector<double> others(doutput, doutput + problem.output_elements());
      std::rotate(others.begin(), others.begin() + problem.channels, others.end());
      serial::average_pool_backward(problem, others.data(), executor.data(op.dinput));
    });

/// A way to break backpropagation, and the network in which it must show.
struct Sabotage {
  std::string name;
  Fault fault;
  Activation activation = Activation::relu;
  LossKind loss = LossKind::cross_entropy;
};

class SabotagedGradient : public testing::TestWithParam<Sabotage> {};

ModelOptions small_mlp(Activation activation = Activation::relu,
                       LossKind loss = LossKind::cross_entropy) {
  return {.name = "mlp",
          .hidden = {5, 4},
          .activation = activation,
          .loss = loss,
          .sample = {3, 2, 1},
          .classes = 3};
}

TEST_P(SabotagedGradient, IsNoticed) {
  const ModelOptions options = small_mlp(GetParam().activation, GetParam().loss);
  EXPECT_FALSE(agrees(ModelCheck(options, 6, 6, GetParam().fault).check()));
  EXPECT_TRUE(agrees(ModelCheck(options, 6, 6).check())) << "the check fails without any sabotage";
}

INSTANTIATE_TEST_SUITE_P(
    , SabotagedGradient,
    testing::Values(
        Sabotage{"ReluWithWrongSign", multiplied(&ReluBackward::dx, -1)},
        Sabotage{"ReluThatLetsEverythingThrough", forgotten<ReluBackward>()},
        Sabotage{"SigmoidWithWrongSign", multiplied(&SigmoidBackward::dx, -1), Activation::sigmoid},
        Sabotage{"SigmoidThatIsSlightlyOff", multiplied(&SigmoidBackward::dx, 1 + 1e-5),
                 Activation::sigmoid},
        Sabotage{"SigmoidThatLetsEverythingThrough", forgotten<SigmoidBackward>(),
                 Activation::sigmoid},
        Sabotage{"CrossEntropyWithoutTheMean", cross_entropy_without_the_mean},
        Sabotage{"CrossEntropyOfTheNeighbour", cross_entropy_of_the_neighbour},
        Sabotage{"SquaredErrorWithoutTheTwo", multiplied(&SquaredErrorBackward::doutputs, 0.5),
                 Activation::sigmoid, LossKind::squared_error},
        Sabotage{"BiasGradientThatIsZero", bias_gradient_that_is_zero},
        Sabotage{"BiasGradientWithoutTheLastRow", bias_gradient_without_the_last_row},
        Sabotage{"BiasGradientWithANaN", bias_gradient_with_a_nan},
        Sabotage{"BiasGradientForgotten", forgotten<ColumnSums>()},
        Sabotage{"WeightGradientTransposed", weight_gradient_transposed},
        Sabotage{"InputGradientWithWeightsAsStored", input_gradient_with_weights_as_stored}),
    [](const auto& test) { return test.param.name; });

struct OperationSabotage {
  std::string name;
  Fault fault;
  std::string operation;  ///< the case in which it must show
};

class SabotagedOperationGradient : public testing::TestWithParam<OperationSabotage> {};

TEST_P(SabotagedOperationGradient, IsNoticed) {
  const auto& cases = operation_cases();
  const auto test = std::find_if(cases.begin(), cases.end(), [](const OperationCase& one) {
    return one.name == GetParam().operation;
  });
  ASSERT_NE(test, cases.end());
  for (const bool is_faulty : {true, false}) {
    Case c(test->sample, test->classes, 7);
    if (is_faulty) c.executor = std::make_unique<Faulty>(GetParam().fault);
    test->build(c);
    EXPECT_EQ(agrees(c.check()), !is_faulty);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , SabotagedOperationGradient,
    testing::Values(
        OperationSabotage{"FilterGradientThatIsSlightlyOff",
                          multiplied(&ConvolutionBackward::dfilter, 1 + 1e-5),
                          "ConvolutionOfAConvolution"},
        OperationSabotage{"FilterGradientWithoutTheLastImage",
                          filter_gradient_without_the_last_image, "ConvolutionOfAConvolution"},
        OperationSabotage{"ImageGradientWithAWrongPixel", image_gradient_with_a_wrong_pixel,
                          "ConvolutionOfAConvolution"},
        OperationSabotage{"ImageGradientForgotten", image_gradient_forgotten,
                          "ConvolutionReluPoolWithBias"},
        OperationSabotage{"PoolGradientWithoutTheMean", pool_gradient_without_the_mean,
                          "AveragePool"},
        OperationSabotage{"PoolGradientOfTheNeighbour", pool_gradient_of_the_neighbour,
                          "AveragePool"},
        OperationSabotage{"PoolGradientOfTheNeighbourInALayer", pool_gradient_of_the_neighbour,
                          "ConvolutionReluPoolWithoutBias"},
        OperationSabotage{"GradientsThatAreNotAddedUp", gradients_that_are_not_added_up,
                          "ParameterThatTwoLayersRead"},
        OperationSabotage{"GradientsOfValuesThatAreNotAddedUp", gradients_that_are_not_added_up,
                          "ValuesThatSeveralRead"}),
    [](const auto& test) { return test.param.name; });

// ---------------------------------------------------------------------------- the check by itself

TEST(GradientCheck, NeverPassesOnNaN) {
  ModelCheck model(small_mlp(), 6, 6);
  model.network.executor->data(model.network.model.parameters.front())[0] =
      std::numeric_limits<double>::quiet_NaN();
  for (const GradientDifference& difference : model.check()) {
    EXPECT_FALSE(difference.relative <= bound) << difference.parameter;
  }
}

TEST(GradientCheck, LeavesParametersAndValuesAsTheyWere) {
  ModelCheck check(small_mlp(), 6, 6);
  const Model& model = check.network.model;
  const auto state = [&] {
    const double* const losses = check.network.executor->data(model.row_losses);
    std::vector<double> values(losses, losses + 6);
    for (const ValueId id : model.parameters) {
      const double* const there = check.network.executor->data(id);
      values.insert(values.end(), there, there + model[id].shape.elements());
    }
    return values;
  };
  check.network.executor->execute(model.program, {.rows = 6});
  const std::vector<double> before = state();
  check.check();
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace stagewise

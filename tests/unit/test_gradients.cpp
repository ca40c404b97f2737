/// @file
/// Backpropagation against finite differences, for every operation and every model.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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
using Differences = std::vector<GradientDifference>;

bool agree(const Differences& differences) {
  return std::all_of(differences.begin(), differences.end(),
                     [](const auto& difference) { return difference.relative <= bound; });
}

// ------------------------------------------------------------------------------------- operations

/// Some operations between samples and a loss, all parameters at random.
struct Case : Workbench<double> {
  Case(const Shape& sample, Index row_count) : rows(row_count) {
    input = add_input("input", random_values<double>(rows * sample.elements(), 2, -1, 1.5), sample);
  }

  ValueId parameter(const std::string& name, const Shape& shape) {
    return add_parameter(name, random_values<double>(shape.elements(), ++seed, -0.8, 1), shape);
  }

  ValueId linear(const std::string& name, ValueId from, Index out) {
    const ValueId weight = parameter(name + "/weight", {program[from].shape.elements(), out});
    return append_linear(program, name, from, weight, {}, Activation::none);
  }

  ValueId convolution(const std::string& name, ValueId from, const Shape& filter) {
    const Shape& image = program[from].shape;
    const Shape shape = {image[0] - filter[0] + 1, image[1] - filter[1] + 1, filter[3]};
    const ValueId to = add(name, shape);
    program.append(Convolution{.input = from, .filter = parameter(name + "/filter", filter), .output = to});
    return to;
  }

  ValueId layer(const std::string& name, ValueId from, const Shape& filter, Index window) {
    return append_convolution_relu_pool(program, name, from, parameter(name + "/filter", filter),
                                        parameter(name + "/bias", {filter[3]}), window);
  }

  void cross_entropy(ValueId outputs) {
    row_losses = add("row losses", {});
    program.append(SoftmaxCrossEntropy{.logits = outputs,
                                       .labels = add_labels(random_labels(rows, 3, 1)),
                                       .probabilities = add("probabilities", {3}),
                                       .row_losses = row_losses});
  }

  /// A fully connected layer behind images, and the loss.
  void classify(ValueId images) { cross_entropy(linear("outputs", images, 3)); }

  Index rows;
  ValueId input;
  ValueId row_losses;
  std::uint64_t seed = 2;
};

/// What backpropagates: some operations or a model. With a fault, if any.
struct Subject {
  std::string name;
  std::function<Differences(Index rows, const Fault& fault)> check;
};

/// @param build adds operations between the input and the loss.
Subject operations(const std::string& name, const Shape& sample, const std::function<void(Case&)>& build) {
  return {name, [=](Index rows, const Fault& fault) {
            Case c(sample, rows);
            c.executor = std::make_unique<Faulty>(fault);
            build(c);
            const Differentiated both = differentiate(c.program, c.row_losses);
            c.load(both.program, rows);
            return check_gradients(*c.executor, c.program, both, c.row_losses, rows);
          }};
}

/// Loaded for more samples than there are, with values of the size that training starts from.
Subject model(const std::string& name, const ModelOptions& options) {
  return {name, [=](Index rows, const Fault& fault) {
            Network<double> network = make_network<double>(options, rows + 2, std::make_unique<Faulty>(fault));
            const Model& its = network.model;
            const Differentiated both = differentiate(its.program, its.row_losses);
            const Dataset data(options.sample, options.classes,
                               random_values<double>(rows * options.sample.elements(), 2, -1, 1.5),
                               random_labels(rows, options.classes, 1));
            std::vector<std::uint32_t> order;
            for (Index i = 0; i < rows; ++i) order.push_back(static_cast<std::uint32_t>(i));
            network.executor->load(both.program, rows + 2);
            network.executor->read_from(data, order);
            std::uint64_t seed = 30;
            for (const ValueId id : its.parameters) {
              const Shape& shape = its[id].shape;
              const Index inputs = shape.elements() / shape[shape.rank() - 1];
              const double limit = its[id].role == Role::bias ? 0.1 : std::sqrt(6 / static_cast<double>(inputs));
              const auto values = random_values<double>(shape.elements(), ++seed, -limit, limit);
              std::copy(values.begin(), values.end(), network.executor->data(id));
            }
            const Index most = options.name == "cnn" ? 12 : 200;  // of some 60,000
            return check_gradients(*network.executor, its.program, both, its.row_losses, rows, most);
          }};
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> result = {
        operations("ShiftedImage", {2, 3, 2},
                   [](Case& c) {
                     const ValueId sum = c.add("sum", {2, 3, 2});
                     c.program.append(AddBias{.x = c.input, .bias = c.parameter("bias", {2}), .y = sum});
                     c.classify(sum);
                   }),
        operations("ConvolutionOfAConvolution", {5, 6, 2},
                   [](Case& c) {
                     const ValueId first = c.convolution("first", c.input, {2, 3, 2, 3});
                     c.classify(c.convolution("second", first, {3, 2, 3, 2}));
                   }),
        operations("ConvolutionToManyChannels", {3, 4, 2},
                   [](Case& c) {
                     c.classify(c.convolution("layer", c.input, {2, 2, 2, 17}));
                   }),
        operations("Pooling", {7, 5, 2},
                   [](Case& c) {
                     const ValueId first = c.layer("first", c.input, {4, 2, 2, 3}, 2);
                     c.classify(c.layer("second", first, {2, 1, 3, 2}, 1));
                   }),
        operations("PoolingOfLargeWindows", {3, 6, 2},
                   [](Case& c) {
                     c.classify(c.layer("layer", c.input, {1, 1, 2, 3}, 3));
                   }),
        operations("SquaredErrorOfOneOutput", {4},
                   [](Case& c) {
                     c.row_losses = c.add("row losses", {});
                     c.program.append(SquaredError{.outputs = c.linear("product", c.input, 1),
                                                   .labels = c.add_labels(random_labels(c.rows, 3, 1)),
                                                   .row_losses = c.row_losses});
                   }),
        operations(
            "ParameterThatTwoLayersRead", {3},
            [](Case& c) {
              const ValueId twice = c.parameter("twice/weight", {3, 3});
              const ValueId bias = c.parameter("twice/bias", {3});
              ValueId layer = append_linear(c.program, "first", c.input, twice, bias, Activation::sigmoid);
              layer = append_linear(c.program, "second", layer, c.parameter("once", {3, 3}), {}, Activation::relu);
              c.cross_entropy(append_linear(c.program, "third", layer, twice, bias, Activation::none));
            }),
        operations("ValuesThatSeveralRead", {3}, [](Case& c) {
          // Three layers, whose weights are made one from the other: w, w + b, sigmoid(w + b).
          const auto add = [&](const std::string& name) { return c.program.add({.name = name, .shape = {3, 3}}); };
          const ValueId product = add("w");
          const ValueId sum = add("w + b");
          const ValueId sigmoid = add("sigmoid(w + b)");
          c.program.append(Gemm{.a = c.parameter("left", {3, 3}), .b = c.parameter("right", {3, 3}), .c = product});
          c.program.append(AddBias{.x = product, .bias = c.parameter("bias", {3}), .y = sum});
          c.program.append(Sigmoid{.x = sum, .y = sigmoid});
          ValueId layer = c.input;
          for (const ValueId weight : {product, sum, sigmoid}) {
            layer = append_linear(c.program, "x " + c.program[weight].name, layer, weight, {}, Activation::none);
          }
          c.cross_entropy(layer);
        })};
    for (const bool biases : {true, false}) {
      const std::string with = biases ? "" : "WithoutBiases";
      result.push_back(model("Cnn" + with, {.name = "cnn", .biases = biases, .sample = {16, 20, 2}, .classes = 3}));
    }
    result.push_back(model("Neuron", {.name = "neuron", .sample = {3}, .classes = 2}));
    for (const auto& [activation, name, backward] : activations) {
      for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared_error}) {
        const ModelOptions options = {
            .hidden = {7, 4, 5}, .activation = activation, .loss = loss, .sample = {3, 2, 1}, .classes = 3};
        const bool squared = loss == LossKind::squared_error;
        result.push_back(model(name + std::string(squared ? "_squared_error" : ""), options));
      }
    }
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      result.push_back(model("Random" + std::to_string(seed), random_model(seed)));
    }
    return result;
  }();
  return all;
}

class Gradients : public testing::TestWithParam<Subject> {};

TEST_P(Gradients, AgreeWithFiniteDifferences) {
  for (const Index rows : {7, 1}) {
    const Differences differences = GetParam().check(rows, {});
    ASSERT_FALSE(differences.empty());
    for (const GradientDifference& difference : differences) {
      if (rows > 1) {
        EXPECT_GT(difference.largest_gradient, 1e-4) << "nothing was tested of " << difference.parameter;
      }
      EXPECT_LE(difference.relative, bound) << difference.parameter;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Gradients, testing::ValuesIn(subjects()), [](const auto& test) { return test.param.name; });

// --------------------------------------------------------------------------------------- sabotage

/// The operation, and then one of its results multiplied.
template <typename Op, typename Result>
Fault multiplied(Result Op::*result, double factor) {
  return instead_of<Op>([=](Faulty& executor, const Op& op) {
    executor.compute(op);
    if (!(op.*result)) return;
    double* const x = executor.data(op.*result);
    std::transform(x, x + executor.elements(op.*result), x, [=](double value) { return factor * value; });
  });
}

const Fault bias_gradient_with_a_nan = instead_of<ColumnSums>([](Faulty& executor, const ColumnSums& op) {
  executor.compute(op);
  executor.data(op.y)[executor.columns(op.y) / 2] = std::numeric_limits<double>::quiet_NaN();
});

const Fault weight_gradient_transposed = instead_of<Gemm>([](Faulty& executor, const Gemm& op) {
  executor.compute(op);
  if (op.op_a == Transpose::no) return;
  double* const c = executor.data(op.c);
  const std::vector<double> gradient(c, c + executor.elements(op.c));
  serial::transpose(executor.rows(op.c), executor.columns(op.c), gradient.data(), c);
});

const Fault input_gradient_with_weights_as_stored = instead_of<Gemm>([](Faulty& executor, const Gemm& op) {
  Gemm wrong = op;
  wrong.op_b = Transpose::no;
  executor.compute(wrong);
});

/// The gradient that came last, instead of the sum of all.
const Fault gradients_that_are_not_added_up = instead_of<Sum>(
    [](Faulty& executor, const Sum& op) { executor.compute(Sum{.terms = {op.terms.back()}, .sum = op.sum}); });

/// A way to break backpropagation, and where it must show.
struct Sabotage {
  std::string name;
  Fault fault;
  std::string subject;
};

class SabotagedGradients : public testing::TestWithParam<Sabotage> {};

TEST_P(SabotagedGradients, AreNoticed) {
  const auto subject = std::find_if(subjects().begin(), subjects().end(),
                                    [](const Subject& one) { return one.name == GetParam().subject; });
  ASSERT_NE(subject, subjects().end());
  EXPECT_FALSE(agree(subject->check(7, GetParam().fault)));
}

INSTANTIATE_TEST_SUITE_P(
    , SabotagedGradients,
    testing::Values(
        Sabotage{"ReluWithWrongSign", multiplied(&ReluBackward::dx, -1), "relu"},
        Sabotage{"SigmoidThatIsSlightlyOff", multiplied(&SigmoidBackward::dx, 1 + 1e-5), "sigmoid"},
        Sabotage{"CrossEntropyWithoutTheMean", multiplied(&SoftmaxCrossEntropyBackward::dlogits, 7), "relu"},
        Sabotage{"SquaredErrorWithoutTheTwo", multiplied(&SquaredErrorBackward::doutputs, 0.5),
                 "sigmoid_squared_error"},
        Sabotage{"BiasGradientWithANaN", bias_gradient_with_a_nan, "relu"},
        Sabotage{"BiasGradientThatIsZero", multiplied(&ColumnSums::y, 0), "relu"},
        Sabotage{"WeightGradientTransposed", weight_gradient_transposed, "relu"},
        Sabotage{"InputGradientWithWeightsAsStored", input_gradient_with_weights_as_stored, "relu"},
        Sabotage{"FilterGradientThatIsSlightlyOff", multiplied(&ConvolutionBackward::dfilter, 1 + 1e-5),
                 "ConvolutionOfAConvolution"},
        Sabotage{"ImageGradientThatIsZero", multiplied(&ConvolutionBackward::dinput, 0), "Pooling"},
        Sabotage{"PoolGradientWithoutTheMean", multiplied(&AveragePoolBackward::dinput, 9), "PoolingOfLargeWindows"},
        Sabotage{"GradientsThatAreNotAddedUp", gradients_that_are_not_added_up, "ParameterThatTwoLayersRead"},
        Sabotage{"GradientsOfValuesThatAreNotAddedUp", gradients_that_are_not_added_up, "ValuesThatSeveralRead"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stagewise

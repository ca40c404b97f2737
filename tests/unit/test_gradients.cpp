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

#include "01_serial/serial_backend.hpp"
#include "graph/graph.hpp"
#include "models/model.hpp"
#include "support.hpp"
#include "verify/gradient_check.hpp"

namespace stagewise {
namespace {

/// What a comparison of backpropagation with finite differences must stay below.
constexpr double bound = 1e-6;

/// Random inputs, parameters and labels for the current batch.
void fill_at_random(Network<double>& network, Index rows, std::int32_t classes) {
  network.graph.set_rows(rows);
  std::uint64_t seed = 1;
  const auto inputs =
      random_values<double>(network.input->value_shape(rows).elements(), ++seed, -1, 1.5);
  std::copy(inputs.begin(), inputs.end(), network.input->value());
  for (Parameter<double>* const parameter : network.graph.parameters()) {
    const auto values = random_values<double>(parameter->elements(), ++seed, -0.8, 1);
    std::copy(values.begin(), values.end(), parameter->value());
  }
  const auto labels = random_labels(rows, classes, ++seed);
  std::copy(labels.begin(), labels.end(), network.labels.data());
}

/// Expects backpropagation to agree with finite differences for every parameter.
void expect_agreement(Network<double>& network) {
  const auto differences = check_gradients(network.graph, *network.loss);
  ASSERT_EQ(differences.size(), network.graph.parameters().size());
  ASSERT_FALSE(differences.empty());
  for (const GradientDifference& difference : differences) {
    EXPECT_GT(difference.largest_gradient, 1e-4)
        << "nothing was tested of " << difference.parameter;
    EXPECT_LE(difference.relative, bound)
        << difference.parameter << ": " << difference.backpropagated << " instead of "
        << difference.numerical << " in element " << difference.worst;
  }
}

// ------------------------------------------------------------------------------------- operations

using Case = Network<double>;

/// Adds operations between the network's input and its loss.
using Builder = std::function<void(Case&)>;

struct OperationCase {
  std::string name;
  Shape sample;
  std::int32_t classes;
  Builder build;
};

Parameter<double>& weight(Case& network, const std::string& name, const Shape& shape) {
  return network.graph.add<Parameter<double>>(name, shape, ParameterKind::weight);
}

Parameter<double>& bias(Case& network, const std::string& name, const Shape& shape) {
  return network.graph.add<Parameter<double>>(name, shape, ParameterKind::bias);
}

void cross_entropy(Case& network, Node<double>& outputs) {
  network.loss = &network.graph.add<SoftmaxCrossEntropy<double>>("loss", outputs, network.labels);
}

void squared_error(Case& network, Node<double>& outputs) {
  network.loss = &network.graph.add<SquaredError<double>>("loss", outputs, network.labels);
}

MatMul<double>& product(Case& network, Index in, Index out) {
  return network.graph.add<MatMul<double>>("product", *network.input,
                                           weight(network, "weight", {in, out}));
}

/// Two layers of the composite operation: the second one's input gradient is the first one's own.
Builder linear(Activation activation, bool with_bias) {
  return [=](Case& network) {
    Node<double>* layer = network.input;
    const std::array<Index, 4> widths = {4, 5, 2, 3};
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      const std::string name = "layer" + std::to_string(i);
      auto& w = weight(network, name + "/weight", {widths[i], widths[i + 1]});
      auto* const b = with_bias ? &bias(network, name + "/bias", {widths[i + 1]}) : nullptr;
      layer = &network.graph.add<Linear<double>>(name, *layer, w, b, activation);
    }
    cross_entropy(network, *layer);
  };
}

Parameter<double>& filter(Case& network, const std::string& name, const Shape& shape) {
  return network.graph.add<Parameter<double>>(name, shape, ParameterKind::filter);
}

/// A fully connected layer behind images, and the loss.
void classify(Case& network, Node<double>& images) {
  auto& flat = network.graph.add<Flatten<double>>("flat", images);
  const Index features = flat.sample_shape().elements();
  cross_entropy(network, network.graph.add<MatMul<double>>(
                             "outputs", flat, weight(network, "weight", {features, 3})));
}

/// Two convolutions, so that the second one's input gradient is put to the test, too.
void convolutions(Case& network) {
  auto& first = network.graph.add<Convolution<double>>("first", *network.input,
                                                       filter(network, "filter1", {2, 3, 2, 3}));
  auto& second = network.graph.add<Convolution<double>>("second", first,
                                                        filter(network, "filter2", {3, 2, 3, 2}));
  classify(network, second);
}

/// Pooling behind a convolution, without which nothing would ask for its input gradient.
Builder average_pool(Index window) {
  return [=](Case& network) {
    auto& images = network.graph.add<Convolution<double>>("images", *network.input,
                                                          filter(network, "filter", {1, 1, 2, 3}));
    classify(network, network.graph.add<AveragePool<double>>("pool", images, window));
  };
}

/// Two layers of the composite operation: windows of 2x2 pixels and of 1x1.
Builder convolution_relu_pool(bool with_bias) {
  return [=](Case& network) {
    Node<double>* layer = network.input;
    const auto add = [&](const std::string& name, const Shape& shape, Index window) {
      auto& f = filter(network, name + "/filter", shape);
      auto* const b = with_bias ? &bias(network, name + "/bias", {shape[3]}) : nullptr;
      layer = &network.graph.add<ConvolutionReluPool<double>>(name, *layer, f, b, window);
    };
    add("conv1", {4, 2, 2, 3}, 2);
    add("conv2", {2, 1, 3, 2}, 1);
    classify(network, *layer);
  };
}

const std::vector<OperationCase>& operation_cases() {
  static const std::vector<OperationCase> cases = {
      {"MatMul",
       {4},
       3,
       [](Case& network) {
         auto& second = network.graph.add<MatMul<double>>("second", product(network, 4, 2),
                                                          weight(network, "last", {2, 3}));
         cross_entropy(network, second);
       }},
      {"AddBias",
       {4},
       3,
       [](Case& network) {
         auto& sum = network.graph.add<AddBias<double>>("sum", product(network, 4, 3),
                                                        bias(network, "bias", {3}));
         cross_entropy(network, sum);
       }},
      {"ReLU",
       {4},
       3,
       [](Case& network) {
         auto& relu = network.graph.add<ReLU<double>>("relu", product(network, 4, 3));
         cross_entropy(network, relu);
       }},
      {"Sigmoid",
       {4},
       3,
       [](Case& network) {
         auto& sigmoid = network.graph.add<Sigmoid<double>>("sigmoid", product(network, 4, 3));
         cross_entropy(network, sigmoid);
       }},
      {"FlattenOfAnImage",
       {2, 3, 2},
       3,
       [](Case& network) {
         auto& shift = network.graph.add<AddBias<double>>("shift", *network.input,
                                                          bias(network, "bias", {2}));
         auto& relu = network.graph.add<ReLU<double>>("relu", shift);
         auto& flat = network.graph.add<Flatten<double>>("flat", relu);
         auto& outputs =
             network.graph.add<MatMul<double>>("product", flat, weight(network, "weight", {12, 3}));
         cross_entropy(network, outputs);
       }},
      {"Convolution", {5, 6, 2}, 3, convolutions},
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
       [](Case& network) { cross_entropy(network, product(network, 4, 7)); }},
      {"SquaredErrorOfOneOutput",
       {4},
       3,
       [](Case& network) { squared_error(network, product(network, 4, 1)); }},
      {"SquaredErrorOfSeveralOutputs",
       {4},
       3,
       [](Case& network) { squared_error(network, product(network, 4, 3)); }},
  };
  return cases;
}

std::unique_ptr<Case> build(Backend<double>& backend, const OperationCase& test, Index rows) {
  auto network = std::make_unique<Case>(backend, rows);
  network->input = &network->graph.add<Placeholder<double>>("input", test.sample);
  test.build(*network);
  network->graph.build(rows, GraphMode::training);
  fill_at_random(*network, rows, test.classes);
  return network;
}

class OperationGradient : public testing::TestWithParam<OperationCase> {};

TEST_P(OperationGradient, AgreesWithFiniteDifferences) {
  const OperationCase& test = GetParam();
  for (const Index rows : {7, 1}) {
    SerialBackend<double> backend;
    expect_agreement(*build(backend, test, rows));
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
  for (const Activation activation : {Activation::relu, Activation::sigmoid}) {
    for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared_error}) {
      for (const std::vector<Index>& hidden : widths) {
        for (const Index rows : {6, 2}) {
          const std::string name =
              std::string(activation == Activation::relu ? "relu" : "sigmoid") +
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

std::unique_ptr<Network<double>> build(Backend<double>& backend, const ModelOptions& options,
                                       Index rows) {
  auto network = build_model(backend, options, 6, GraphMode::training);
  fill_at_random(*network, rows, options.classes);
  return network;
}

class ModelGradient : public testing::TestWithParam<ModelCase> {};

TEST_P(ModelGradient, AgreesWithFiniteDifferences) {
  SerialBackend<double> backend;
  expect_agreement(*build(backend, GetParam().options, GetParam().rows));
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
  const ModelOptions options = {
      .name = "cnn", .biases = GetParam(), .sample = {16, 20, 2}, .classes = 3};
  SerialBackend<double> backend;
  const auto network = build_model(backend, options, rows, GraphMode::training);
  fill_at_random(*network, rows, options.classes);
  // Values of the size that training starts from: with larger ones all probabilities are 0 or 1.
  for (Parameter<double>* const parameter : network->graph.parameters()) {
    const Index inputs =
        parameter->elements() / parameter->sample_shape()[parameter->sample_shape().rank() - 1];
    const double limit =
        parameter->kind() == ParameterKind::bias ? 0.1 : std::sqrt(6 / static_cast<double>(inputs));
    const auto values = random_values<double>(parameter->elements(), 30, -limit, limit);
    std::copy(values.begin(), values.end(), parameter->value());
  }
  ASSERT_EQ(network->graph.parameters().size(), GetParam() ? 8U : 4U);

  network->graph.forward();
  network->graph.backward();
  const auto mean_loss = [&] {
    network->graph.forward();
    const double* const losses = network->loss->value();
    return (losses[0] + losses[1]) / rows;
  };
  Random random(31);
  for (Parameter<double>* const parameter : network->graph.parameters()) {
    double largest_gradient = 0;
    double largest_difference = 0;
    for (int i = 0; i < checked; ++i) {
      const auto at =
          static_cast<Index>(random.below(static_cast<std::uint64_t>(parameter->elements())));
      double& value = parameter->value()[at];
      const double original = value;
      value = original + h;
      const double above = mean_loss();
      value = original - h;
      const double below = mean_loss();
      value = original;
      const double numerical = (above - below) / (2 * h);
      const double apart = std::abs(numerical - parameter->gradient()[at]);
      largest_gradient = std::max(largest_gradient, std::abs(numerical));
      if (!(apart <= largest_difference)) largest_difference = apart;  // also where it is NaN
    }
    EXPECT_GT(largest_gradient, 1e-4) << "nothing was tested of " << parameter->name();
    EXPECT_LE(largest_difference, bound * largest_gradient) << parameter->name();
  }
}

INSTANTIATE_TEST_SUITE_P(, CnnGradient, testing::Bool(), [](const auto& test) {
  return test.param ? "WithBiases" : "WithoutBiases";
});

// ---------------------------------------------------------------- shapes that do not go together

/// The sentence of the UsageError that `work` throws: a user's choice of data or model is to blame.
template <typename Work>
std::string usage_sentence_of(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

/// What adding an operation behind samples of this shape ends in.
std::string sentence_behind(const Shape& sample, const Builder& add) {
  SerialBackend<double> backend;
  Case network(backend, 1);
  network.input = &network.graph.add<Placeholder<double>>("input", sample);
  return usage_sentence_of([&] { add(network); });
}

Builder convolution_with(const Shape& shape) {
  return [=](Case& network) {
    network.graph.add<Convolution<double>>("conv", *network.input, filter(network, "f", shape));
  };
}

Builder composite_with(const Shape& shape, Index window) {
  return [=](Case& network) {
    network.graph.add<ConvolutionReluPool<double>>("conv", *network.input,
                                                   filter(network, "f", shape), nullptr, window);
  };
}

TEST(ImageShapes, SmallerThanTheFilterAreRefused) {
  const std::string sentence =
      "the images are too small for this network: 'conv' has filters of 5x3 pixels, but gets "
      "images of ";
  for (const Builder& add : {convolution_with({5, 3, 2, 4}), composite_with({5, 3, 2, 4}, 1)}) {
    EXPECT_EQ(sentence_behind({4, 9, 2}, add), sentence + "4x9");
    EXPECT_EQ(sentence_behind({9, 2, 2}, add), sentence + "9x2");
    EXPECT_EQ(sentence_behind({5, 3, 2}, add), "no UsageError");
  }
}

TEST(ImageShapes, ThatTheWindowDoesNotDivideAreRefused) {
  const auto pool = [](Index window) -> Builder {
    return [=](Case& network) {
      network.graph.add<AveragePool<double>>("pool", *network.input, window);
    };
  };
  const std::string sentence = "the images do not fit this network: ";
  EXPECT_EQ(sentence_behind({4, 5, 2}, pool(2)),
            sentence + "'pool' pools windows of 2x2 pixels, which do not divide 4x5");
  EXPECT_EQ(sentence_behind({4, 6, 2}, pool(3)),
            sentence + "'pool' pools windows of 3x3 pixels, which do not divide 4x6");
  expect_contains(sentence_behind({4, 6, 2}, pool(0)), "windows of 0x0 pixels");
  expect_contains(sentence_behind({4, 6, 2}, pool(-2)), "windows of -2x-2 pixels");
  EXPECT_EQ(sentence_behind({4, 6, 2}, pool(2)), "no UsageError");
  // What counts is what the convolution leaves: 4x6 here.
  EXPECT_EQ(sentence_behind({5, 8, 2}, composite_with({2, 3, 2, 4}, 2)), "no UsageError");
  EXPECT_EQ(sentence_behind({5, 8, 2}, composite_with({2, 3, 2, 4}, 3)),
            sentence + "'conv' pools windows of 3x3 pixels, which do not divide 4x6");
}

TEST(ImageShapes, OfOtherChannelsOrNoImagesAreRefused) {
  for (const Builder& add : {convolution_with({2, 2, 3, 4}), composite_with({2, 2, 3, 4}, 1)}) {
    expect_contains(sentence_behind({5, 5, 2}, add), "filters of as many channels");
    expect_contains(sentence_behind({50}, add), "convolves images");
  }
}

TEST(ImageShapes, ThatDoNotGoThroughTheCnnAreRefused) {
  SerialBackend<double> backend;
  const auto sentence = [&](const Shape& sample) {
    return usage_sentence_of([&] {
      build_model(backend, {.name = "cnn", .sample = sample, .classes = 3}, 1,
                  GraphMode::inference);
    });
  };
  EXPECT_EQ(sentence({16, 16, 1}), "no UsageError");
  EXPECT_EQ(sentence({28, 16, 3}), "no UsageError");
  expect_contains(sentence({4, 28, 1}), "'conv1' has filters of 5x5 pixels");
  expect_contains(sentence({28, 27, 1}), "'conv1' pools windows of 2x2 pixels");
  expect_contains(sentence({12, 12, 1}), "'conv2' has filters of 5x5 pixels");
  expect_contains(sentence({18, 16, 1}), "'conv2' pools windows of 2x2 pixels");
  expect_contains(sentence({784}), "takes images");
}

// --------------------------------------------------------------------------------------- sabotage

using Serial = SerialBackend<double>;

void multiply(Index n, double factor, double* x) {
  std::transform(x, x + n, x, [=](double value) { return factor * value; });
}

struct ReluWithWrongSign : Serial {
  void relu_backward(Index n, const double* y, const double* dy, double* dx) override {
    Serial::relu_backward(n, y, dy, dx);
    multiply(n, -1, dx);
  }
};

struct ReluThatLetsEverythingThrough : Serial {
  void relu_backward(Index n, const double* /*y*/, const double* dy, double* dx) override {
    std::copy_n(dy, n, dx);
  }
};

struct SigmoidWithWrongSign : Serial {
  void sigmoid_backward(Index n, const double* y, const double* dy, double* dx) override {
    Serial::sigmoid_backward(n, y, dy, dx);
    multiply(n, -1, dx);
  }
};

struct SigmoidThatIsSlightlyOff : Serial {
  void sigmoid_backward(Index n, const double* y, const double* dy, double* dx) override {
    Serial::sigmoid_backward(n, y, dy, dx);
    multiply(n, 1 + 1e-5, dx);
  }
};

struct CrossEntropyWithoutTheMean : Serial {
  void softmax_cross_entropy_backward(Index rows, Index cols, const double* probabilities,
                                      const std::int32_t* labels, double* dlogits) override {
    Serial::softmax_cross_entropy_backward(rows, cols, probabilities, labels, dlogits);
    multiply(rows * cols, static_cast<double>(rows), dlogits);
  }
};

struct CrossEntropyOfTheNeighbour : Serial {
  void softmax_cross_entropy_backward(Index rows, Index cols, const double* probabilities,
                                      const std::int32_t* labels, double* dlogits) override {
    std::vector<std::int32_t> others(labels, labels + rows);
    std::rotate(others.begin(), others.begin() + 1, others.end());
    Serial::softmax_cross_entropy_backward(rows, cols, probabilities, others.data(), dlogits);
  }
};

struct SquaredErrorWithoutTheTwo : Serial {
  void squared_error_backward(Index rows, Index cols, const double* outputs,
                              const std::int32_t* labels, double* doutputs) override {
    Serial::squared_error_backward(rows, cols, outputs, labels, doutputs);
    multiply(rows * cols, 0.5, doutputs);
  }
};

struct BiasGradientThatIsZero : Serial {
  void sum_rows(Index /*rows*/, Index cols, const double* /*x*/, double* out) override {
    std::fill_n(out, cols, 0.0);
  }
};

struct BiasGradientWithoutTheLastRow : Serial {
  void sum_rows(Index rows, Index cols, const double* x, double* out) override {
    Serial::sum_rows(rows - 1, cols, x, out);
  }
};

struct BiasGradientWithANaN : Serial {
  void sum_rows(Index rows, Index cols, const double* x, double* out) override {
    Serial::sum_rows(rows, cols, x, out);
    out[cols / 2] = std::numeric_limits<double>::quiet_NaN();
  }
};

struct BiasGradientForgotten : Serial {
  void linear_backward(const LinearBackwardProblem<double>& layer) override {
    LinearBackwardProblem<double> rest = layer;
    rest.bias = {};
    Serial::linear_backward(rest);
  }
};

struct ActivationForgotten : Serial {
  void linear_backward(const LinearBackwardProblem<double>& layer) override {
    LinearBackwardProblem<double> rest = layer;
    rest.forward.activation = Activation::none;
    Serial::linear_backward(rest);
  }
};

struct WeightGradientTransposed : Serial {
  void gemm(const GemmProblem<double>& problem) override {
    Serial::gemm(problem);
    if (problem.op_a == Transpose::no) return;
    const std::vector<double> gradient(problem.c, problem.c + problem.m * problem.n);
    transpose(problem.m, problem.n, gradient.data(), problem.c);
  }
};

struct InputGradientWithWeightsAsStored : Serial {
  void gemm(const GemmProblem<double>& problem) override {
    GemmProblem<double> wrong = problem;
    wrong.op_b = Transpose::no;
    Serial::gemm(wrong);
  }
};

struct FilterGradientThatIsSlightlyOff : Serial {
  void convolution_backward(const ConvolutionProblem& p, const double* input, const double* weights,
                            const double* doutput, double* dinput, double* dfilter) override {
    Serial::convolution_backward(p, input, weights, doutput, dinput, dfilter);
    multiply(p.filter_height * p.filter_width * p.in * p.out, 1 + 1e-5, dfilter);
  }
};

struct FilterGradientWithoutTheLastImage : Serial {
  void convolution_backward(const ConvolutionProblem& p, const double* input, const double* weights,
                            const double* doutput, double* dinput, double* dfilter) override {
    Serial::convolution_backward(p, input, weights, doutput, dinput, dfilter);
    ConvolutionProblem fewer = p;
    --fewer.batch;
    Serial::convolution_backward(fewer, input, weights, doutput, nullptr, dfilter);
  }
};

struct ImageGradientWithAWrongPixel : Serial {
  void convolution_backward(const ConvolutionProblem& p, const double* input, const double* weights,
                            const double* doutput, double* dinput, double* dfilter) override {
    Serial::convolution_backward(p, input, weights, doutput, dinput, dfilter);
    if (dinput != nullptr) std::rotate(dinput, dinput + p.in, dinput + 2 * p.in);
  }
};

struct ImageGradientForgotten : Serial {
  void convolution_backward(const ConvolutionProblem& p, const double* input, const double* weights,
                            const double* doutput, double* dinput, double* dfilter) override {
    Serial::convolution_backward(p, input, weights, doutput, nullptr, dfilter);
    if (dinput != nullptr) std::fill_n(dinput, p.batch * p.height * p.width * p.in, 0.0);
  }
};

struct PoolGradientWithoutTheMean : Serial {
  void average_pool_backward(const PoolingProblem& p, const double* doutput,
                             double* dinput) override {
    Serial::average_pool_backward(p, doutput, dinput);
    multiply(p.batch * p.height * p.width * p.channels, static_cast<double>(p.window * p.window),
             dinput);
  }
};

struct PoolGradientOfTheNeighbour : Serial {
  void average_pool_backward(const PoolingProblem& p, const double* doutput,
                             double* dinput) override {
    std::vector<double> others(doutput, doutput + p.output_elements());
    std::rotate(others.begin(), others.begin() + p.channels, others.end());
    Serial::average_pool_backward(p, others.data(), dinput);
  }
};

/// A way to break backpropagation, and the network in which it must show.
struct Sabotage {
  std::string name;
  std::function<std::unique_ptr<Serial>()> backend;
  Activation activation = Activation::relu;
  LossKind loss = LossKind::cross_entropy;
};

template <typename B>
std::unique_ptr<Serial> make() {
  return std::make_unique<B>();
}

ModelOptions options_of(const Sabotage& sabotage) {
  return {.name = "mlp",
          .hidden = {5, 4},
          .activation = sabotage.activation,
          .loss = sabotage.loss,
          .sample = {3, 2, 1},
          .classes = 3};
}

bool agrees(Backend<double>& backend, const Sabotage& sabotage) {
  const auto network = build(backend, options_of(sabotage), 6);
  const auto differences = check_gradients(network->graph, *network->loss);
  return std::all_of(differences.begin(), differences.end(),
                     [](const auto& difference) { return difference.relative <= bound; });
}

class SabotagedGradient : public testing::TestWithParam<Sabotage> {};

TEST_P(SabotagedGradient, IsNoticed) {
  const Sabotage& sabotage = GetParam();
  EXPECT_FALSE(agrees(*sabotage.backend(), sabotage));
  Serial intact;
  EXPECT_TRUE(agrees(intact, sabotage)) << "the check fails without any sabotage";
}

INSTANTIATE_TEST_SUITE_P(
    , SabotagedGradient,
    testing::Values(
        Sabotage{"ReluWithWrongSign", make<ReluWithWrongSign>},
        Sabotage{"ReluThatLetsEverythingThrough", make<ReluThatLetsEverythingThrough>},
        Sabotage{"SigmoidWithWrongSign", make<SigmoidWithWrongSign>, Activation::sigmoid},
        Sabotage{"SigmoidThatIsSlightlyOff", make<SigmoidThatIsSlightlyOff>, Activation::sigmoid},
        Sabotage{"CrossEntropyWithoutTheMean", make<CrossEntropyWithoutTheMean>},
        Sabotage{"CrossEntropyOfTheNeighbour", make<CrossEntropyOfTheNeighbour>},
        Sabotage{"SquaredErrorWithoutTheTwo", make<SquaredErrorWithoutTheTwo>, Activation::sigmoid,
                 LossKind::squared_error},
        Sabotage{"BiasGradientThatIsZero", make<BiasGradientThatIsZero>},
        Sabotage{"BiasGradientWithoutTheLastRow", make<BiasGradientWithoutTheLastRow>},
        Sabotage{"BiasGradientWithANaN", make<BiasGradientWithANaN>},
        Sabotage{"BiasGradientForgotten", make<BiasGradientForgotten>},
        Sabotage{"ActivationForgotten", make<ActivationForgotten>, Activation::sigmoid},
        Sabotage{"WeightGradientTransposed", make<WeightGradientTransposed>},
        Sabotage{"InputGradientWithWeightsAsStored", make<InputGradientWithWeightsAsStored>}),
    [](const auto& test) { return test.param.name; });

struct ImageSabotage {
  std::string name;
  std::function<std::unique_ptr<Serial>()> backend;
  std::string operation;  ///< the case in which it must show
};

bool agrees(Backend<double>& backend, const OperationCase& test) {
  const auto network = build(backend, test, 7);
  const auto differences = check_gradients(network->graph, *network->loss);
  return std::all_of(differences.begin(), differences.end(),
                     [](const auto& difference) { return difference.relative <= bound; });
}

class SabotagedImageGradient : public testing::TestWithParam<ImageSabotage> {};

TEST_P(SabotagedImageGradient, IsNoticed) {
  const auto& cases = operation_cases();
  const auto test = std::find_if(cases.begin(), cases.end(), [](const OperationCase& one) {
    return one.name == GetParam().operation;
  });
  ASSERT_NE(test, cases.end());
  EXPECT_FALSE(agrees(*GetParam().backend(), *test));
  Serial intact;
  EXPECT_TRUE(agrees(intact, *test)) << "the check fails without any sabotage";
}

INSTANTIATE_TEST_SUITE_P(
    , SabotagedImageGradient,
    testing::Values(ImageSabotage{"FilterGradientThatIsSlightlyOff",
                                  make<FilterGradientThatIsSlightlyOff>, "Convolution"},
                    ImageSabotage{"FilterGradientWithoutTheLastImage",
                                  make<FilterGradientWithoutTheLastImage>, "Convolution"},
                    ImageSabotage{"ImageGradientWithAWrongPixel",
                                  make<ImageGradientWithAWrongPixel>, "Convolution"},
                    ImageSabotage{"ImageGradientForgotten", make<ImageGradientForgotten>,
                                  "ConvolutionReluPoolWithBias"},
                    ImageSabotage{"PoolGradientWithoutTheMean", make<PoolGradientWithoutTheMean>,
                                  "AveragePool"},
                    ImageSabotage{"PoolGradientOfTheNeighbour", make<PoolGradientOfTheNeighbour>,
                                  "AveragePool"},
                    ImageSabotage{"PoolGradientOfTheNeighbourInTheComposite",
                                  make<PoolGradientOfTheNeighbour>,
                                  "ConvolutionReluPoolWithoutBias"}),
    [](const auto& test) { return test.param.name; });

// ---------------------------------------------------------------------------- the check by itself

TEST(GradientCheck, NeverPassesOnNaN) {
  Serial backend;
  const auto network = build(backend, options_of({}), 6);
  network->graph.parameters().front()->value()[0] = std::numeric_limits<double>::quiet_NaN();
  for (const GradientDifference& difference : check_gradients(network->graph, *network->loss)) {
    EXPECT_FALSE(difference.relative <= bound) << difference.parameter;
  }
}

TEST(GradientCheck, LeavesParametersAndValuesAsTheyWere) {
  Serial backend;
  const auto network = build(backend, options_of({}), 6);
  const auto state = [&] {
    std::vector<double> values(network->loss->value(), network->loss->value() + 6);
    for (Parameter<double>* const parameter : network->graph.parameters()) {
      values.insert(values.end(), parameter->value(), parameter->value() + parameter->elements());
    }
    return values;
  };
  network->graph.forward();
  const std::vector<double> before = state();
  check_gradients(network->graph, *network->loss);
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace stagewise

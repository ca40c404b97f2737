/// @file
/// Stage 04's fused convolution computes what stage 01's composite computes, forward and backward,
/// whatever the shape, and with the same bits in every run.

#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "01_serial/serial_backend.hpp"
#include "04_minibatch/minibatch_backend.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/device_array.hpp"
#include "cross_stage/random_shapes.hpp"
#include "cross_stage/stage_types.hpp"
#include "graph/graph.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

/// A layer without its data.
struct Layer {
  ConvolutionProblem convolution;
  Index window = 2;
  bool has_bias = true;

  Index inputs() const {
    return convolution.batch * convolution.height * convolution.width * convolution.in;
  }
  Index weights() const {
    return convolution.filter_height * convolution.filter_width * convolution.in * convolution.out;
  }
  Index activated() const { return convolution.output_pixels() * convolution.out; }
  Index outputs() const { return activated() / (window * window); }

  std::string name() const {
    const ConvolutionProblem& p = convolution;
    const auto text = [](Index n) { return std::to_string(n); };
    return text(p.batch) + " images " + text(p.height) + "x" + text(p.width) + "x" + text(p.in) +
           ", filters " + text(p.filter_height) + "x" + text(p.filter_width) + "x" + text(p.out) +
           ", windows of " + text(window) + (has_bias ? "" : ", no bias");
  }

  template <typename T>
  ConvolutionReluPoolProblem<T> problem() const {
    ConvolutionReluPoolProblem<T> problem;
    problem.convolution = convolution;
    problem.window = window;
    return problem;
  }
};

Index one_of(Random& random, const std::vector<Index>& values) {
  return values[random.below(values.size())];
}

Index up_to(Random& random, Index most) {
  return 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(most)));
}

Layer random_layer(Random& random) {
  Layer layer;
  layer.window = one_of(random, {1, 2, 2, 2, 3});
  layer.has_bias = random.below(3) != 0;
  ConvolutionProblem& p = layer.convolution;
  p.batch = one_of(random, {1, 1, 2, 3, 5});
  p.filter_height = up_to(random, 5);
  p.filter_width = up_to(random, 5);
  p.height = layer.window * up_to(random, 7) + p.filter_height - 1;
  p.width = layer.window * up_to(random, 7) + p.filter_width - 1;
  p.in = one_of(random, {1, 2, 3, 4, 5, 8, 32, 33});
  p.out = one_of(random, {1, 2, 3, 4, 5, 8, 16, 17, 20, 32, 33, 36, 64, 65});
  return layer;
}

/// Those of the cnn, and one for each kind of tile, whole and cut.
const std::vector<Layer> layers = {
    // batch, height, width, in, filter height, filter width, out
    {{3, 28, 28, 1, 5, 5, 32}, 2, true},  {{3, 12, 12, 32, 5, 5, 64}, 2, true},
    {{1, 28, 28, 1, 5, 5, 32}, 2, false}, {{1, 12, 12, 32, 5, 5, 64}, 2, false},
    {{4, 32, 32, 3, 5, 5, 32}, 2, true},  {{7, 15, 19, 3, 2, 4, 31}, 2, true},
    {{7, 15, 19, 4, 2, 4, 12}, 2, true},  {{5, 9, 11, 5, 4, 2, 66}, 2, true},
    {{1, 2, 2, 1, 1, 1, 1}, 2, true},     {{2, 3, 2, 700, 2, 1, 5}, 2, true},
};

/// The same numbers, NaNs included.
template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <typename T>
struct Forward {
  std::vector<T> activated;
  std::vector<T> output;
};

template <typename T>
struct Backward {
  std::vector<T> dactivated;
  std::vector<T> dinput;
  std::vector<T> dfilter;
  std::vector<T> dbias;
};

/// What backward() of a layer is asked for beside dactivated and dfilter.
struct Wanted {
  bool dinput = true;
  bool dbias = true;
};

template <typename T>
class FusedConvolution : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    backend_ = std::make_unique<MinibatchBackend<T>>();
  }

  MinibatchBackend<T>& backend() { return *backend_; }
  SerialBackend<T>& serial() { return serial_; }

  /// Outputs start as NaN and have one more element, which has to stay one.
  Forward<T> forward(Backend<T>& backend, const Layer& layer, bool keeps_activated) {
    DeviceArray input(backend, random_values<T>(layer.inputs(), 1));
    DeviceArray filter(backend, random_values<T>(layer.weights(), 2));
    DeviceArray bias(backend, random_values<T>(layer.convolution.out, 3));
    DeviceArray activated(backend, poison<T>(layer.activated() + 1));
    DeviceArray output(backend, poison<T>(layer.outputs() + 1));
    ConvolutionReluPoolProblem<T> problem = layer.problem<T>();
    problem.input = input.get();
    problem.filter = filter.get();
    problem.bias = layer.has_bias ? bias.get() : nullptr;
    problem.activated = keeps_activated ? activated.get() : nullptr;
    problem.output = output.get();
    backend.convolution_relu_pool(problem);
    return {activated.read(backend), output.read(backend)};
  }

  /// Both backends are given the same values behind the relu, a half of them zeros: gradients do
  /// not jump where rounding moves a value across 0.
  Backward<T> backward(Backend<T>& backend, const Layer& layer, Wanted wanted) {
    std::vector<T> values = random_values<T>(layer.activated(), 4);
    for (T& value : values) value = std::max(value, T{0});
    DeviceArray input(backend, random_values<T>(layer.inputs(), 1));
    DeviceArray filter(backend, random_values<T>(layer.weights(), 2, -1, 2));
    DeviceArray activated(backend, values);
    DeviceArray doutput(backend, random_values<T>(layer.outputs(), 5, -2, 1));
    DeviceArray dactivated(backend, poison<T>(layer.activated() + 1));
    DeviceArray dinput(backend, poison<T>(layer.inputs() + 1));
    DeviceArray dfilter(backend, poison<T>(layer.weights() + 1));
    DeviceArray dbias(backend, poison<T>(layer.convolution.out + 1));
    ConvolutionReluPoolBackwardProblem<T> problem;
    problem.forward = layer.problem<T>();
    problem.forward.input = input.get();
    problem.forward.filter = filter.get();
    problem.forward.activated = activated.get();
    problem.doutput = doutput.get();
    problem.dactivated = dactivated.get();
    problem.dinput = wanted.dinput ? dinput.get() : nullptr;
    problem.dfilter = dfilter.get();
    problem.dbias = wanted.dbias ? dbias.get() : nullptr;
    backend.convolution_relu_pool_backward(problem);
    return {dactivated.read(backend), dinput.read(backend), dfilter.read(backend),
            dbias.read(backend)};
  }

  void check_forward(const Layer& layer) {
    const ConvolutionProblem& p = layer.convolution;
    const auto terms = static_cast<double>(p.filter_height * p.filter_width * p.in);
    const double units = 8 + 2 * std::sqrt(terms);
    const Forward<T> expected = forward(serial_, layer, true);
    const Forward<T> actual = forward(*backend_, layer, true);
    expect_within_units(layer.name() + ", activated", units, actual.activated, expected.activated);
    expect_within_units(layer.name() + ", output", units, actual.output, expected.output);
    EXPECT_TRUE(same_bits(forward(*backend_, layer, true).activated, actual.activated))
        << layer.name() << ", activated a second time";
    if (!backend_->fuses_pooling(layer.problem<T>())) return;
    const Forward<T> without = forward(*backend_, layer, false);
    EXPECT_TRUE(same_bits(without.output, actual.output)) << layer.name() << ", a second time";
    EXPECT_TRUE(same_bits(without.activated, poison<T>(layer.activated() + 1))) << layer.name();
  }

  void check_backward(const Layer& layer, Wanted wanted) {
    const ConvolutionProblem& p = layer.convolution;
    const double units = 8 + 2 * std::sqrt(static_cast<double>(std::max(
                                     p.output_pixels(), p.filter_height * p.filter_width * p.out)));
    const Backward<T> expected = backward(serial_, layer, wanted);
    const Backward<T> actual = backward(*backend_, layer, wanted);
    const auto compare = [&](const std::string& what, std::vector<T> Backward<T>::*array,
                             double bound) {
      expect_within_units(layer.name() + ", " + what, bound, actual.*array, expected.*array);
    };
    compare("dactivated", &Backward<T>::dactivated, 1);
    compare("dinput", &Backward<T>::dinput, units);
    compare("dfilter", &Backward<T>::dfilter, units);
    compare("dbias", &Backward<T>::dbias, units);
    const Backward<T> again = backward(*backend_, layer, wanted);
    EXPECT_TRUE(same_bits(again.dactivated, actual.dactivated) &&
                same_bits(again.dinput, actual.dinput) &&
                same_bits(again.dfilter, actual.dfilter) && same_bits(again.dbias, actual.dbias))
        << layer.name() << ", a second time";
  }

 private:
  SerialBackend<T> serial_;
  std::unique_ptr<MinibatchBackend<T>> backend_;
};

TYPED_TEST_SUITE(FusedConvolution, Precisions, PrecisionNames);

TYPED_TEST(FusedConvolution, ComputesWhatStage01ComputesForward) {
  for (const Layer& layer : layers) {
    EXPECT_TRUE(this->backend().fuses_pooling(layer.template problem<TypeParam>()));
    this->check_forward(layer);
    if (this->HasFatalFailure()) return;
  }
  Random random(11);
  for (int i = 0; i < shapes_per_rung(); ++i) {
    const Layer layer = random_layer(random);
    EXPECT_EQ(this->backend().fuses_pooling(layer.template problem<TypeParam>()),
              layer.window == 2);
    this->check_forward(layer);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(FusedConvolution, ComputesWhatStage01ComputesBackward) {
  for (const Layer& layer : layers) {
    this->check_backward(layer, {});
    if (this->HasFatalFailure()) return;
  }
  Random random(12);
  for (int i = 0; i < shapes_per_rung(); ++i) {
    const Layer layer = random_layer(random);
    this->check_backward(layer, {.dinput = random.below(2) == 0, .dbias = layer.has_bias});
    if (this->HasFatalFailure()) return;
  }
}

/// Many blocks share the windows, and some channels are beyond the last whole warp.
TYPED_TEST(FusedConvolution, AddsUpTheBiasGradientOfManyWindows) {
  this->check_backward({{41, 16, 15, 1, 1, 2, 37}, 2, true}, {.dinput = false});
}

/// A NaN among the inputs reaches every output that has seen it, and no other.
TYPED_TEST(FusedConvolution, DoesNotSwallowANaN) {
  using T = TypeParam;
  const Layer layer = {{1, 6, 6, 1, 1, 1, 3}, 2, true};
  std::vector<T> values = random_values<T>(layer.inputs(), 1);
  values[2 * 6 + 3] = std::numeric_limits<T>::quiet_NaN();  // in the window in the middle
  Backend<T>& backend = this->backend();
  DeviceArray input(backend, values);
  DeviceArray filter(backend, random_values<T>(layer.weights(), 2));
  DeviceArray bias(backend, random_values<T>(layer.convolution.out, 3));
  DeviceArray output(backend, std::vector<T>(static_cast<std::size_t>(layer.outputs()), T{7}));
  ConvolutionReluPoolProblem<T> problem = layer.template problem<T>();
  problem.input = input.get();
  problem.filter = filter.get();
  problem.bias = bias.get();
  problem.output = output.get();
  backend.convolution_relu_pool(problem);
  const std::vector<T> results = output.read(backend);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(std::isnan(results[i]), i / 3 == 4) << "element " << i;
  }
}

/// What cannot be fused goes the way of the stages before.
TYPED_TEST(FusedConvolution, RefusesWhatItCannotCount) {
  const auto fuses = [&](const ConvolutionProblem& p, Index window) {
    return this->backend().fuses_pooling(Layer{p, window}.template problem<TypeParam>());
  };
  EXPECT_TRUE(fuses({10'000, 28, 28, 1, 5, 5, 32}, 2));
  EXPECT_TRUE(fuses({10'000, 12, 12, 32, 5, 5, 64}, 2));
  EXPECT_FALSE(fuses({10'000, 28, 28, 1, 5, 5, 32}, 1));
  EXPECT_FALSE(fuses({10'000, 28, 28, 1, 5, 5, 32}, 4));
  EXPECT_FALSE(fuses({1 << 20, 28, 28, 2, 5, 5, 32}, 2)) << "more than 2^30 values";
  EXPECT_FALSE(fuses({1 << 18, 28, 28, 1, 5, 5, 5000}, 2)) << "more than 2 * 10^9 panels";
  EXPECT_FALSE(fuses({0, 28, 28, 1, 5, 5, 32}, 2)) << "no image";
  EXPECT_FALSE(fuses({10, 28, 28, 0, 5, 5, 32}, 2)) << "no channels";
}

/// Notes whether a graph's layer has kept what comes out of the relu.
class Observer : public MinibatchBackend<float> {
 public:
  void convolution_relu_pool(const ConvolutionReluPoolProblem<float>& layer) override {
    keeps_activated = layer.activated != nullptr;
    MinibatchBackend<float>::convolution_relu_pool(layer);
  }
  std::optional<bool> keeps_activated;
};

std::vector<float> run_graph(Observer& backend, GraphMode mode, Index window) {
  Graph<float> graph(backend);
  auto& input = graph.add<Placeholder<float>>("input", Shape{8, 14, 3});
  auto& filter = graph.add<Parameter<float>>("filter", Shape{3, 3, 3, 5}, ParameterKind::filter);
  auto& pooled = graph.add<ConvolutionReluPool<float>>("conv", input, filter, nullptr, window);
  graph.build(2, mode);
  const auto images = random_values<float>(2 * input.sample_shape().elements(), 1);
  const auto weights = random_values<float>(filter.elements(), 2);
  backend.copy_in(input.value(), images.data(), images.size() * sizeof(float));
  backend.copy_in(filter.value(), weights.data(), weights.size() * sizeof(float));
  graph.forward();
  std::vector<float> results(static_cast<std::size_t>(2 * pooled.sample_shape().elements()));
  backend.copy_out(results.data(), pooled.value(), results.size() * sizeof(float));
  return results;
}

TEST(FusedConvolutionInAGraph, KeepsWhatOnlyTrainingNeedsOnlyInTraining) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  Observer backend;
  const std::vector<float> trained = run_graph(backend, GraphMode::training, 2);
  EXPECT_EQ(backend.keeps_activated, true);
  EXPECT_EQ(run_graph(backend, GraphMode::inference, 2), trained);
  EXPECT_EQ(backend.keeps_activated, false);
  run_graph(backend, GraphMode::inference, 3);
  EXPECT_EQ(backend.keeps_activated, true) << "windows of 3 x 3 are not fused";
}

}  // namespace
}  // namespace stagewise

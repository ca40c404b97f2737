/// @file
/// Stage 04's fused convolution computes what stage 01's loops compute, forward and backward,
/// whatever the shape, and with the same bits in every run.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "01_serial/average_pool.hpp"
#include "01_serial/convolution.hpp"
#include "01_serial/elementwise.hpp"
#include "01_serial/reduce.hpp"
#include "01_serial/serial_executor.hpp"
#include "03_shared_memory/shared_memory_executor.hpp"
#include "04_minibatch/convolution/convolution.hpp"
#include "cross_stage/convolution_layers.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/random_shapes.hpp"
#include "cross_stage/shapes.hpp"
#include "cross_stage/stage_types.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

using cross_stage::bias_of;
using cross_stage::filter_of;
using cross_stage::inputs_of;
using cross_stage::Layer;
using cross_stage::layers;
using cross_stage::random_layer;

/// On the CPU, work is divided as among so many multiprocessors: enough that the parts of a tile
/// are added up in groups.
[[maybe_unused]] const int multiprocessors = setenv("STAGEWISE_CPU_MULTIPROCESSORS", "64", 0);

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
  std::vector<T> dbias;
};

/// Outputs start as NaN and have one more element, which has to stay one.
template <typename T>
Forward<T> serial_forward(const Layer& layer) {
  const std::vector<T> bias = bias_of<T>(layer);
  Forward<T> result = {poison<T>(layer.activated() + 1), poison<T>(layer.outputs() + 1)};
  T* const y = result.activated.data();
  serial::convolution(layer.convolution, inputs_of<T>(layer).data(), filter_of<T>(layer).data(), y);
  if (layer.has_bias) {
    serial::add_bias(layer.convolution.output_pixels(), layer.convolution.out, y, bias.data(), y);
  }
  serial::activate(Activation::relu, layer.activated(), y, y);
  serial::average_pool(layer.pooling(), y, result.output.data());
  return result;
}

/// Stages 01 and 04 are given the same values behind the relu, a half of them zeros: gradients do
/// not jump where rounding moves a value across 0.
template <typename T>
std::vector<T> activated_of(const Layer& layer) {
  std::vector<T> values = random_values<T>(layer.activated(), 4);
  for (T& value : values) value = std::max(value, T{0});
  return values;
}
template <typename T>
std::vector<T> doutput_of(const Layer& layer) {
  return random_values<T>(layer.outputs(), 5, -2, 1);
}

template <typename T>
Backward<T> serial_backward(const Layer& layer) {
  Backward<T> result = {poison<T>(layer.activated() + 1), poison<T>(layer.convolution.out + 1)};
  T* const dx = result.dactivated.data();
  serial::average_pool_backward(layer.pooling(), doutput_of<T>(layer).data(), dx);
  serial::activate_backward(Activation::relu, layer.activated(), activated_of<T>(layer).data(), dx,
                            dx);
  if (layer.has_bias) {
    serial::column_sums(layer.convolution.output_pixels(), layer.convolution.out, dx,
                        result.dbias.data());
  }
  return result;
}

template <typename T>
class FusedConvolution : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }

  /// Every kernel leaves the counters as it has found them.
  void TearDown() override {
    std::vector<unsigned> counters(Workspace::counter_count);
    ASSERT_EQ(cudaMemcpy(counters.data(), workspace_.counters(), counters.size() * sizeof(unsigned),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_EQ(std::count(counters.begin(), counters.end(), 0U), std::ssize(counters));
  }

  Forward<T> forward(const Layer& layer, bool keeps_activated) {
    CudaArray input(inputs_of<T>(layer));
    CudaArray filter(filter_of<T>(layer));
    CudaArray bias(bias_of<T>(layer));
    CudaArray activated(poison<T>(layer.activated() + 1));
    CudaArray output(poison<T>(layer.outputs() + 1));
    ConvolutionReluPoolProblem<T> problem = layer.problem<T>();
    problem.input = input.get();
    problem.filter = filter.get();
    problem.bias = layer.has_bias ? bias.get() : nullptr;
    problem.activated = keeps_activated ? activated.get() : nullptr;
    problem.output = output.get();
    EXPECT_TRUE(minibatch::can_fuse_pooling(problem.convolution, problem.window)) << layer.name();
    minibatch::convolution_relu_pool(nullptr, problem, workspace_);
    return {activated.read(), output.read()};
  }

  Backward<T> backward(const Layer& layer) {
    CudaArray activated(activated_of<T>(layer));
    CudaArray doutput(doutput_of<T>(layer));
    CudaArray dactivated(poison<T>(layer.activated() + 1));
    CudaArray dbias(poison<T>(layer.convolution.out + 1));
    minibatch::pool_relu_backward<T>(nullptr, layer.pooling(), activated.get(), doutput.get(),
                                     dactivated.get(), layer.has_bias ? dbias.get() : nullptr,
                                     workspace_);
    return {dactivated.read(), dbias.read()};
  }

  void check_forward(const Layer& layer) {
    const ConvolutionProblem& p = layer.convolution;
    const auto terms = static_cast<double>(p.filter_height * p.filter_width * p.in);
    const double units = 8 + 2 * std::sqrt(terms);
    const Forward<T> expected = serial_forward<T>(layer);
    const Forward<T> actual = forward(layer, true);
    expect_within_units(layer.name() + ", activated", units, actual.activated, expected.activated);
    expect_within_units(layer.name() + ", output", units, actual.output, expected.output);
    EXPECT_TRUE(same_bits(forward(layer, true).activated, actual.activated))
        << layer.name() << ", activated a second time";
    const Forward<T> without = forward(layer, false);
    EXPECT_TRUE(same_bits(without.output, actual.output)) << layer.name() << ", a second time";
    EXPECT_TRUE(same_bits(without.activated, poison<T>(layer.activated() + 1))) << layer.name();
  }

  static double gradients_units(const ConvolutionProblem& p) {
    return 8 + 2 * std::sqrt(static_cast<double>(
                       std::max(p.output_pixels(), p.filter_height * p.filter_width * p.out)));
  }

  void check_backward(const Layer& layer) {
    const Backward<T> expected = serial_backward<T>(layer);
    const Backward<T> actual = backward(layer);
    expect_within_units(layer.name() + ", dactivated", 1, actual.dactivated, expected.dactivated);
    expect_within_units(layer.name() + ", dbias", gradients_units(layer.convolution), actual.dbias,
                        expected.dbias);
    const Backward<T> again = backward(layer);
    EXPECT_TRUE(same_bits(again.dactivated, actual.dactivated) &&
                same_bits(again.dbias, actual.dbias))
        << layer.name() << ", a second time";
  }

  /// The gradients of the convolution itself, as products, however small they are.
  void check_gradients(const Layer& layer, bool with_input) {
    const ConvolutionProblem& p = layer.convolution;
    Trial<T> trial(p.batch);
    ConvolutionBackward backward;
    backward.input = cross_stage::add_images(trial, {p.height, p.width, p.in}, 1);
    backward.filter = cross_stage::add_filter(trial, p, 2);
    backward.doutput =
        cross_stage::add_images(trial, {p.output_height(), p.output_width(), p.out}, 3);
    if (with_input) backward.dinput = trial.batched_output({p.height, p.width, p.in});
    backward.dfilter = trial.whole_output({p.filter_height, p.filter_width, p.in, p.out});
    trial.append(backward);
    const auto run = [&] {
      SharedMemoryExecutor<T> executor(
          {.convolution = shared_memory::ConvolutionVariant::implicit});
      return trial.run(executor, trial.program());
    };
    SerialExecutor<T> serial;
    const auto expected = trial.run(serial, trial.program());
    const auto actual = run();
    const auto again = run();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string what = layer.name() + ", value " + std::to_string(i);
      const auto& values = std::get<std::vector<T>>(actual[i]);
      expect_within_units(what, gradients_units(p), values, std::get<std::vector<T>>(expected[i]));
      EXPECT_TRUE(same_bits(std::get<std::vector<T>>(again[i]), values)) << what;
    }
  }

  Workspace workspace_;
};

TYPED_TEST_SUITE(FusedConvolution, Precisions, PrecisionNames);

TYPED_TEST(FusedConvolution, ComputesWhatStage01ComputesForward) {
  for (const Layer& layer : layers) {
    this->check_forward(layer);
    if (this->HasFatalFailure()) return;
  }
  Random random(11);
  for (int i = 0; i < shapes_per_rung(); ++i) {
    const Layer layer = random_layer(random);
    this->check_forward(layer);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(FusedConvolution, ComputesWhatStage01ComputesBackward) {
  for (const Layer& layer : layers) {
    this->check_backward(layer);
    this->check_gradients(layer, true);
    if (this->HasFatalFailure()) return;
  }
  Random random(12);
  for (int i = 0; i < shapes_per_rung(); ++i) {
    const Layer layer = random_layer(random);
    this->check_backward(layer);
    this->check_gradients(layer, random.below(2) == 0);
    if (this->HasFatalFailure()) return;
  }
}

/// Many blocks share the windows, and some channels are beyond the last whole warp.
TYPED_TEST(FusedConvolution, AddsUpTheBiasGradientOfManyWindows) {
  this->check_backward({{41, 16, 15, 1, 1, 2, 37}, 2, true});
}

/// A NaN among the inputs reaches every output that has seen it, and no other.
TYPED_TEST(FusedConvolution, DoesNotSwallowANaN) {
  using T = TypeParam;
  const Layer layer = {{1, 6, 6, 1, 1, 1, 3}, 2, true};
  std::vector<T> values = random_values<T>(layer.inputs(), 1);
  values[2 * 6 + 3] = std::numeric_limits<T>::quiet_NaN();  // in the window in the middle
  CudaArray input(values);
  CudaArray filter(random_values<T>(layer.weights(), 2));
  CudaArray bias(random_values<T>(layer.convolution.out, 3));
  CudaArray output(std::vector<T>(static_cast<std::size_t>(layer.outputs()), T{7}));
  ConvolutionReluPoolProblem<T> problem = layer.template problem<T>();
  problem.input = input.get();
  problem.filter = filter.get();
  problem.bias = bias.get();
  problem.output = output.get();
  minibatch::convolution_relu_pool(nullptr, problem, this->workspace_);
  const std::vector<T> results = output.read();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(std::isnan(results[i]), i / 3 == 4) << "element " << i;
  }
}

/// What cannot be fused goes the way of the stages before.
TYPED_TEST(FusedConvolution, RefusesWhatItCannotCount) {
  const auto fuses = [&](const ConvolutionProblem& p, Index window) {
    return minibatch::can_fuse_pooling(p, window);
  };
  EXPECT_TRUE(fuses({10'000, 28, 28, 1, 5, 5, 32}, 2));
  EXPECT_TRUE(fuses({10'000, 12, 12, 32, 5, 5, 64}, 2));
  EXPECT_FALSE(fuses({10'000, 28, 28, 1, 5, 5, 32}, 1));
  EXPECT_FALSE(fuses({10'000, 28, 28, 1, 5, 5, 32}, 4));
  EXPECT_FALSE(fuses({1 << 20, 28, 28, 2, 5, 5, 32}, 2)) << "more than 2^30 values";
  EXPECT_FALSE(fuses({1 << 18, 28, 28, 1, 5, 5, 5000}, 2)) << "more than 2^30 sums";
  EXPECT_FALSE(fuses({0, 28, 28, 1, 5, 5, 32}, 2)) << "no image";
  EXPECT_FALSE(fuses({10, 28, 28, 0, 5, 5, 32}, 2)) << "no channels";
}

}  // namespace
}  // namespace stagewise

/// @file
/// Stage 04's fused convolution computes what stage 01's loops compute, forward and backward,
/// whatever the shape, and with the same bits in every run.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "01_serial/serial_executor.hpp"
#include "04_minibatch/convolution/convolution.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "cross_stage/convolution_layers.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"

namespace stagewise {
namespace {

using namespace cross_stage;

/// On the CPU, work is divided as among so many multiprocessors: enough that the parts of a tile
/// are added up in groups.
[[maybe_unused]] const int multiprocessors = setenv("STAGEWISE_CPU_MULTIPROCESSORS", "64", 0);

template <typename T>
class FusedConvolution : public GpuTest {
 protected:
  /// Outputs start as NaN and have one more element, which has to stay one.
  void check_forward(const Layer& layer, bool has_nan = false) {
    const ConvolutionProblem& p = layer.convolution;
    EXPECT_TRUE(minibatch::can_fuse_pooling(p, layer.window)) << layer.name();
    for (const bool keeps_activated : {true, false}) {
      Trial<T> trial(p.batch);
      std::vector<T> images = inputs_of<T>(layer);
      if (has_nan) images[images.size() / 2] = std::numeric_limits<T>::quiet_NaN();
      ConvolutionReluPool fused = {.input = trial.batched({p.height, p.width, p.in}, images),
                                   .filter = add_filter(trial, p, 2),
                                   .window = layer.window};
      const ValueId product = trial.batched_output(layer.convolved());
      fused.output = trial.batched_output(layer.pooled());
      trial.append(Convolution{.input = fused.input, .filter = fused.filter, .output = product});
      ValueId sum = product;
      if (layer.has_bias) {
        const ValueId bias = trial.whole({p.out}, random_values<T>(p.out, 3), Role::bias);
        fused.bias = bias;
        sum = trial.in_memory_of(product);
        trial.append(AddBias{.x = product, .bias = bias, .y = sum});
      }
      const ValueId activated = trial.in_memory_of(product);
      trial.append(Relu{.x = sum, .y = activated});
      trial.append(AveragePool{.input = activated, .output = fused.output, .window = layer.window});
      if (keeps_activated) fused.activated = activated;
      const auto terms = static_cast<double>(p.filter_height * p.filter_width * p.in);
      expect_same(layer.name() + (keeps_activated ? ", activated" : ""), 8 + 2 * std::sqrt(terms), trial, fused,
                  std::make_unique<MinibatchExecutor<T>>());
    }
  }

  /// Both are given the same values behind the relu, a half of them zeros: gradients do not jump
  /// where rounding moves a value across 0.
  void check_pool_backward(const Layer& layer) {
    const ConvolutionProblem& p = layer.convolution;
    Trial<T> trial(p.batch);
    std::vector<T> values = random_values<T>(layer.activated(), 4);
    for (T& value : values) value = std::max(value, T{0});
    PoolReluBackward fused = {.activated = trial.batched(layer.convolved(), values),
                              .doutput = add_images(trial, layer.pooled(), 5),
                              .window = layer.window};
    const ValueId dactivated = trial.batched_output(layer.convolved());
    fused.dsum = trial.in_memory_of(dactivated);
    trial.append(AveragePoolBackward{.doutput = fused.doutput, .dinput = dactivated, .window = layer.window});
    trial.append(ReluBackward{.y = fused.activated, .dy = dactivated, .dx = fused.dsum});
    if (layer.has_bias) {
      fused.dbias = trial.whole_output({p.out});
      trial.append(ColumnSums{.x = fused.dsum, .y = fused.dbias});
    }
    expect_same(layer.name() + ", pool backward", gradients_units(p), trial, fused,
                std::make_unique<MinibatchExecutor<T>>());
  }

  /// The gradients of the convolution itself, as products, however small they are.
  void check_gradients(const Layer& layer, bool with_input) {
    const ConvolutionProblem& p = layer.convolution;
    Trial<T> trial(p.batch);
    ConvolutionBackward backward = {.input = add_images(trial, {p.height, p.width, p.in}, 1),
                                    .filter = add_filter(trial, p, 2),
                                    .doutput = add_images(trial, layer.convolved(), 3)};
    if (with_input) backward.dinput = trial.batched_output({p.height, p.width, p.in});
    backward.dfilter = trial.whole_output({p.filter_height, p.filter_width, p.in, p.out});
    trial.append(backward);
    expect_same(layer.name() + ", gradients", gradients_units(p), trial, backward,
                std::make_unique<SharedMemoryExecutor<T>>(
                    SharedMemoryOptions{.convolution = shared_memory::ConvolutionVariant::implicit}));
  }

 private:
  static double gradients_units(const ConvolutionProblem& p) {
    return 8 +
           2 * std::sqrt(static_cast<double>(std::max(p.output_pixels(), p.filter_height * p.filter_width * p.out)));
  }

  /// Executes the trial by stage 01, and one line instead of it twice by the same executor: if the
  /// kernel leaves its counters behind, the second run shows it.
  void expect_same(const std::string& what, double units, const Trial<T>& trial, const Operation& fused,
                   const std::unique_ptr<Executor<T>>& executor) {
    if (this->HasFatalFailure()) return;
    SerialExecutor<T> serial;
    Program program(trial.program().values);
    program.append(fused);
    const auto expected = trial.run(serial, trial.program());
    const auto actual = trial.run(*executor, program);
    const auto again = trial.run(*executor, program);
    for (const ValueId id : written_by(fused)) {
      const auto at = static_cast<std::size_t>(trial.program().memory_of(id).index);
      const auto& values = std::get<std::vector<T>>(actual[at]);
      expect_within_units(what, units, values, std::get<std::vector<T>>(expected[at]));
      expect_within_units(what + ", again", 0, std::get<std::vector<T>>(again[at]), values);
    }
  }
};

TYPED_TEST_SUITE(FusedConvolution, Precisions, PrecisionNames);

TYPED_TEST(FusedConvolution, ComputesWhatStage01ComputesForward) {
  for (const Layer& layer : layers) this->check_forward(layer);
  Random random(11);
  for (int i = 0; i < shapes_per_rung(); ++i) this->check_forward(random_layer(random));
}

TYPED_TEST(FusedConvolution, ComputesWhatStage01ComputesBackward) {
  for (const Layer& layer : layers) {
    this->check_pool_backward(layer);
    this->check_gradients(layer, true);
  }
  Random random(12);
  for (int i = 0; i < shapes_per_rung(); ++i) {
    const Layer layer = random_layer(random);
    this->check_pool_backward(layer);
    this->check_gradients(layer, random.below(2) == 0);
  }
}

/// Many blocks share the windows, and some channels are beyond the last whole warp.
TYPED_TEST(FusedConvolution, AddsUpTheBiasGradientOfManyWindows) {
  this->check_pool_backward({{41, 16, 15, 1, 1, 2, 37}, 2, true});
}

/// A NaN among the inputs reaches every output that has seen it, and no other.
TYPED_TEST(FusedConvolution, DoesNotSwallowANaN) { this->check_forward({{1, 6, 6, 1, 1, 1, 3}, 2, true}, true); }

/// What cannot be fused goes the way of the stages before.
TEST(FusedPooling, RefusesWhatItCannotCount) {
  const auto fuses = minibatch::can_fuse_pooling;
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

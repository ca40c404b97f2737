/// @file
/// The convolutions of ladders/convolution/: by im2col as stage 01's, in TF32 as close as its bits
/// allow.

#include <algorithm>
#include <cmath>
#include <vector>

#include "01_serial/convolution.hpp"
#include "cross_stage/convolution_layers.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cross_stage/primitives.hpp"
#include "ladders/convolution/im2col_executor.hpp"
#include "ladders/convolution/tf32_convolution.hpp"

namespace stagewise {
namespace {

using namespace cross_stage;

const int im2col_primitives = register_primitives<Im2colExecutor>("Im2col");

/// A batch that goes through im2col piece by piece gives what it gives in one piece.
TEST(Im2col, BatchesGoThroughALimitedMemoryPieceByPiece) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const ConvolutionProblem p = {
      .batch = 7, .height = 9, .width = 8, .in = 3, .filter_height = 3, .filter_width = 2, .out = 5};
  Workspace workspace;
  const Index inputs = p.batch * p.height * p.width * p.in;
  const Index weights = p.filter_height * p.filter_width * p.in * p.out;
  const Index outputs = p.output_pixels() * p.out;
  CudaArray input(random_values<double>(inputs, 1));
  CudaArray filter(random_values<double>(weights, 2));
  CudaArray doutput(random_values<double>(outputs, 3));
  CudaArray memory(poison<double>(7 * ladder::im2col_elements(p)));

  struct Results {
    std::vector<double> output;
    std::vector<double> dinput;
    std::vector<double> dfilter;
  };
  // Adds in the same order however many rows a product has; what the stage picks need not.
  const auto& rung = find_rung(shared_memory::gemm_ladder<double>(), "warp-tiles");
  const auto run = [&](Index images) {
    CudaArray output(poison<double>(outputs));
    CudaArray dinput(poison<double>(inputs));
    CudaArray dfilter(poison<double>(weights));
    const ladder::Im2colImages<double> columns = {memory.get(), images};
    ladder::convolution<double>(nullptr, p, input.get(), filter.get(), output.get(), columns, workspace, &rung);
    ladder::convolution_backward<double>(nullptr, p, input.get(), filter.get(), doutput.get(), dinput.get(),
                                         dfilter.get(), columns, workspace, &rung);
    return Results{output.read(), dinput.read(), dfilter.read()};
  };
  const Results whole = run(7);
  for (const Index images : {1, 2, 3}) {
    const Results pieces = run(images);
    EXPECT_EQ(pieces.output, whole.output) << images;
    EXPECT_EQ(pieces.dinput, whole.dinput) << images;
    ASSERT_EQ(pieces.dfilter.size(), whole.dfilter.size());
    for (std::size_t i = 0; i < whole.dfilter.size(); ++i) {
      EXPECT_NEAR(pieces.dfilter[i], whole.dfilter[i], 1e-13) << images;  // another order
    }
  }
}

template <typename T>
std::vector<T> magnitudes(std::vector<T> values) {
  for (T& value : values) value = std::abs(value);
  return values;
}

/// A layer's products, all three.
struct Products {
  std::vector<float> forward;
  std::vector<float> dinput;
  std::vector<float> dfilter;
};

Products serial_products(const Layer& layer, const std::vector<float>& input, const std::vector<float>& filter,
                         const std::vector<float>& doutput) {
  const auto zeros = [](Index n) { return std::vector<float>(static_cast<std::size_t>(n)); };
  Products results = {zeros(layer.activated()), zeros(layer.inputs()), zeros(layer.weights())};
  serial::convolution(layer.convolution, input.data(), filter.data(), results.forward.data());
  serial::convolution_backward(layer.convolution, input.data(), filter.data(), doutput.data(), results.dinput.data(),
                               results.dfilter.data());
  return results;
}

/// Each product of rounded factors is off by at most 2^-10 of itself: two times 2^-11.
void expect_rounded_factors(const std::string& what, const std::vector<float>& actual,
                            const std::vector<float>& expected, const std::vector<float>& sizes, bool is_rounded) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(double{actual[i]} - expected[i]);
    ASSERT_LE(error, 1.1 * std::ldexp(1, -10) * sizes[i] + 1e-6) << what << ", element " << i;
    largest = std::max(largest, error / (double{sizes[i]} + 1e-30));
  }
  EXPECT_EQ(largest > 2e-6, is_rounded) << what << ": " << largest;
}

/// TF32 rounds the factors that are copied in vectors, and changes nothing else.
TEST(ConvolutionInTf32, RoundsFactors) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  Workspace workspace;
  for (const Layer& layer : layers) {
    const ConvolutionProblem& p = layer.convolution;
    const std::vector<float> input = inputs_of<float>(layer);
    const std::vector<float> filter = filter_of<float>(layer);
    const std::vector<float> doutput = random_values<float>(layer.activated(), 5, -2, 1);
    const Products expected = serial_products(layer, input, filter, doutput);
    const Products sizes = serial_products(layer, magnitudes(input), magnitudes(filter), magnitudes(doutput));

    CudaArray device_input(input);
    CudaArray device_filter(filter);
    CudaArray device_doutput(doutput);
    CudaArray activated(poison<float>(layer.activated()));
    CudaArray output(poison<float>(layer.outputs()));
    CudaArray dinput(poison<float>(layer.inputs()));
    CudaArray dfilter(poison<float>(layer.weights()));
    ConvolutionReluPoolProblem<float> problem = layer.problem<float>();
    problem.input = device_input.get();
    problem.filter = device_filter.get();
    problem.activated = activated.get();
    problem.output = output.get();
    ladder::convolution_relu_pool_in_tf32(nullptr, problem, workspace);
    ladder::filter_gradient_in_tf32(nullptr, p, device_input.get(), device_doutput.get(), dfilter.get(), workspace);
    ladder::input_gradient_in_tf32(nullptr, p, device_filter.get(), device_doutput.get(), dinput.get(), workspace);
    std::vector<float> positive = expected.forward;
    for (float& value : positive) value = std::max(value, 0.0F);
    const bool have_vectors = p.in % 4 == 0 && p.out % 4 == 0;  // else factors stay as they are
    expect_rounded_factors(layer.name() + ", forward", activated.read(), positive, sizes.forward, have_vectors);
    expect_rounded_factors(layer.name() + ", dinput", dinput.read(), expected.dinput, sizes.dinput, p.out % 4 == 0);
    expect_rounded_factors(layer.name() + ", dfilter", dfilter.read(), expected.dfilter, sizes.dfilter, have_vectors);
  }
}

}  // namespace
}  // namespace stagewise

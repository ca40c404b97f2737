#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/reduce.hpp"
#include "ladders/reduce/serial.hpp"
#include "ladders/transpose/serial.hpp"
#include "network/differentiate.hpp"
#include "network/layers.hpp"
#include "network/optimizer.hpp"
#include "support.hpp"
#include "unit/observed_executor.hpp"

namespace stagewise {
namespace {

template <typename T>
class SerialMatrix : public testing::Test {
 protected:
  static constexpr T epsilon = std::numeric_limits<T>::epsilon();
};

TYPED_TEST_SUITE(SerialMatrix, Precisions, PrecisionNames);

struct MatrixSize {
  Index rows;
  Index cols;
};

const std::vector<MatrixSize> matrix_sizes = {{0, 3},   {1, 1},   {1, 7},   {7, 1},   {3, 5},
                                              {13, 17}, {64, 10}, {5, 131}, {131, 5}, {100, 257}};

TYPED_TEST(SerialMatrix, Transpose) {
  using T = TypeParam;
  for (const auto [rows, cols] : matrix_sizes) {
    const auto x = random_values<T>(rows * cols, 1);
    std::vector<T> expected(x.size());
    for (Index i = 0; i < rows * cols; ++i) expected[i % cols * rows + i / cols] = x[i];
    std::vector<T> y = poison<T>(rows * cols);
    serial::transpose(rows, cols, x.data(), y.data());
    EXPECT_EQ(y, expected);
  }
}

TYPED_TEST(SerialMatrix, SumIsAddedUpInDouble) {
  using T = TypeParam;
  for (const Index n : {0, 1, 7, 131, 100003}) {
    const auto x = random_values<T>(n, 2, 0, 1);
    long double expected = 0;
    for (const T value : x) expected += value;
    std::vector<T> out = poison<T>(1);
    serial::sum(n, x.data(), out.data());
    const long double roundings = static_cast<long double>(n) * 0x1p-52L + this->epsilon;
    expect_within(out, {expected}, {roundings * expected});
  }
}

TYPED_TEST(SerialMatrix, ColumnSums) {
  using T = TypeParam;
  for (const auto [rows, cols] : matrix_sizes) {
    const auto x = random_values<T>(rows * cols, 3, -1, 2);
    std::vector<long double> expected(static_cast<std::size_t>(cols), 0);
    std::vector<long double> bounds(static_cast<std::size_t>(cols), 0);
    for (Index i = 0; i < rows * cols; ++i) {
      expected[i % cols] += x[i];
      bounds[i % cols] += static_cast<long double>(rows) * this->epsilon * std::abs(x[i]);
    }
    std::vector<T> out = poison<T>(cols);
    serial::column_sums(rows, cols, x.data(), out.data());
    expect_within(out, expected, bounds);
  }
}

/// A fully connected layer, which passes its gradient on to a parameter below it: its input is that
/// parameter's values, shifted by the samples.
template <typename T>
struct Layer {
  Layer(Index batch, Index inputs, Index outputs, Activation kind, bool with_bias)
      : rows(batch),
        in(inputs),
        out(outputs),
        activation(kind),
        input(random_values<T>(rows * in, 4)),
        weight(random_values<T>(in * out, 5)),
        bias(with_bias ? random_values<T>(out, 6) : std::vector<T>()),
        labels(random_labels(rows, out == 1 ? 2 : out, 7)),
        below_id(
            bench.add_parameter("below", std::vector<T>(static_cast<std::size_t>(in), 0), {in})),
        weight_id(bench.add_parameter("weight", weight, {in, out})),
        bias_id(with_bias ? bench.add_parameter("bias", bias, {out}) : ValueId()),
        losses_id(bench.add("row losses", {})) {
    const ValueId samples = bench.add_input("samples", input, {in});
    const ValueId shifted = bench.add("shifted", {in});
    bench.program.append(AddBias{.x = samples, .bias = below_id, .y = shifted});
    output_id = append_linear(bench.program, "fc", shifted, weight_id, bias_id, activation);
    bench.program.append(SquaredError{
        .outputs = output_id, .labels = bench.add_labels(labels), .row_losses = losses_id});
  }

  std::vector<T> gradient_of(const Differentiated& both, ValueId id) const {
    return bench.get(both.program, both.gradient_of(id), rows);
  }

  Index rows;
  Index in;
  Index out;
  Activation activation;
  std::vector<T> input;
  std::vector<T> weight;
  std::vector<T> bias;
  std::vector<std::int32_t> labels;
  Workbench<T> bench;
  ValueId below_id;
  ValueId weight_id;
  ValueId bias_id;
  ValueId losses_id;
  ValueId output_id;
};

/// What the layer's two passes should give, in long double.
template <typename T>
struct LayerReference {
  explicit LayerReference(const Layer<T>& layer)
      : output(static_cast<std::size_t>(layer.rows * layer.out), 0),
        dbelow(static_cast<std::size_t>(layer.in), 0),
        dweight(layer.weight.size(), 0),
        dbias(layer.bias.size(), 0) {
    const auto [rows, in, out] = std::array{layer.rows, layer.in, layer.out};
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < out; ++j) {
        long double z = dbias.empty() ? 0 : layer.bias[j];
        for (Index k = 0; k < in; ++k) {
          z += static_cast<long double>(layer.input[i * in + k]) * layer.weight[k * out + j];
        }
        long double slope = 1;
        if (layer.activation == Activation::relu) {
          slope = z > 0 ? 1 : 0;
          z *= slope;
        } else if (layer.activation == Activation::sigmoid) {
          z = 1 / (1 + std::exp(-z));
          slope = z * (1 - z);
        }
        output[i * out + j] = z;
        const std::int32_t label = layer.labels[i];
        const long double target = out == 1 ? label : (j == label ? 1 : 0);
        const long double dz = slope * 2 * (z - target) / rows;
        if (!dbias.empty()) dbias[j] += dz;
        for (Index k = 0; k < in; ++k) {
          dbelow[k] += dz * layer.weight[k * out + j];
          dweight[k * out + j] += dz * layer.input[i * in + k];
        }
      }
    }
  }

  std::vector<long double> output;
  std::vector<long double> dbelow;
  std::vector<long double> dweight;
  std::vector<long double> dbias;
};

/// All numbers are below 10 and all sums shorter than 40 terms.
template <typename T>
void expect_near(const std::vector<T>& actual, const std::vector<long double>& expected) {
  const long double bound = 100 * std::numeric_limits<T>::epsilon();
  expect_within(actual, expected, std::vector<long double>(expected.size(), bound));
}

TYPED_TEST(SerialMatrix, LinearAndItsBackward) {
  using T = TypeParam;
  for (const Activation activation : {Activation::none, Activation::relu, Activation::sigmoid}) {
    for (const auto& [rows, in, out] :
         std::vector<std::array<Index, 3>>{{1, 1, 1}, {3, 5, 7}, {13, 2, 31}, {6, 37, 4}}) {
      for (const bool with_bias : {true, false}) {
        Layer<T> layer(rows, in, out, activation, with_bias);
        const LayerReference<T> expected(layer);
        layer.bench.run(layer.bench.program, rows);
        expect_near(layer.bench.get(layer.bench.program, layer.output_id, rows), expected.output);

        const Differentiated both = differentiate(layer.bench.program, layer.losses_id);
        layer.bench.run(both.program, rows);
        expect_near(layer.gradient_of(both, layer.below_id), expected.dbelow);
        expect_near(layer.gradient_of(both, layer.weight_id), expected.dweight);
        if (with_bias) expect_near(layer.gradient_of(both, layer.bias_id), expected.dbias);
      }
    }
  }
}

/// The gradient that is passed on is one of the weights before their update.
TYPED_TEST(SerialMatrix, LinearBackwardAndItsUpdates) {
  using T = TypeParam;
  Layer<T> layer(6, 5, 7, Activation::sigmoid, true);
  const LayerReference<T> expected(layer);
  const double rate = 0.5;
  const double l2 = 0.25;
  std::vector<long double> weight = widened(layer.weight);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    weight[i] -= rate * (expected.dweight[i] + l2 * weight[i]);
  }
  std::vector<long double> bias = widened(layer.bias);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] -= rate * expected.dbias[i];

  Differentiated both = differentiate(layer.bench.program, layer.losses_id);
  const std::vector<ValueId> parameters = {layer.weight_id, layer.bias_id};
  Optimizer optimizer = {.sgd = {.learning_rate = rate, .l2 = l2}};
  append_updates(both.program, parameters,
                 {both.gradient_of(parameters[0]), both.gradient_of(parameters[1])}, optimizer);
  layer.bench.run(both.program, layer.rows);
  expect_near(layer.gradient_of(both, layer.below_id), expected.dbelow);
  expect_near(layer.bench.get(both.program, layer.weight_id, layer.rows), weight);
  expect_near(layer.bench.get(both.program, layer.bias_id, layer.rows), bias);
}

}  // namespace
}  // namespace stagewise

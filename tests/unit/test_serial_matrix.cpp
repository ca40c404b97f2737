#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/serial_backend.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

template <typename T>
class SerialMatrix : public testing::Test {
 protected:
  static constexpr T epsilon = std::numeric_limits<T>::epsilon();
  SerialBackend<T> backend_;
};

TYPED_TEST_SUITE(SerialMatrix, Precisions, PrecisionNames);

struct Size {
  Index rows;
  Index cols;
};

const std::vector<Size> sizes = {{0, 3},   {1, 1},   {1, 7},   {7, 1},   {3, 5},
                                 {13, 17}, {64, 10}, {5, 131}, {131, 5}, {100, 257}};

TYPED_TEST(SerialMatrix, Transpose) {
  using T = TypeParam;
  for (const auto [rows, cols] : sizes) {
    const auto x = random_values<T>(rows * cols, 1);
    std::vector<T> expected(x.size());
    for (Index i = 0; i < rows * cols; ++i) expected[i % cols * rows + i / cols] = x[i];
    std::vector<T> y = poison<T>(rows * cols);
    this->backend_.transpose(rows, cols, x.data(), y.data());
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
    this->backend_.sum(n, x.data(), out.data());
    const long double roundings = static_cast<long double>(n) * 0x1p-52L + this->epsilon;
    expect_within(out, {expected}, {roundings * expected});
  }
}

TYPED_TEST(SerialMatrix, SumRows) {
  using T = TypeParam;
  for (const auto [rows, cols] : sizes) {
    const auto x = random_values<T>(rows * cols, 3, -1, 2);
    std::vector<long double> expected(static_cast<std::size_t>(cols), 0);
    std::vector<long double> bounds(static_cast<std::size_t>(cols), 0);
    for (Index i = 0; i < rows * cols; ++i) {
      expected[i % cols] += x[i];
      bounds[i % cols] += static_cast<long double>(rows) * this->epsilon * std::abs(x[i]);
    }
    std::vector<T> out = poison<T>(cols);
    this->backend_.sum_rows(rows, cols, x.data(), out.data());
    expect_within(out, expected, bounds);
  }
}

/// A fully connected layer with everything its two passes read and write.
template <typename T>
struct Layer {
  Layer(Index rows, Index in, Index out, Activation kind)
      : problem{.rows = rows, .in = in, .out = out, .activation = kind},
        input(random_values<T>(rows * in, 4)),
        weight(random_values<T>(in * out, 5)),
        bias(random_values<T>(out, 6)),
        output(poison<T>(rows * out)),
        doutput(random_values<T>(rows * out, 7)),
        dinput(poison<T>(rows * in)),
        dweight(poison<T>(in * out)),
        dbias(poison<T>(out)) {
    problem.input = input.data();
    problem.weight = weight.data();
    problem.bias = bias.data();
    problem.output = output.data();
  }

  LinearBackwardProblem<T> backward() {
    return {.forward = problem,
            .doutput = doutput.data(),
            .dinput = dinput.data(),
            .weight = {.gradient = dweight.data()},
            .bias = {.gradient = dbias.data()}};
  }

  LinearProblem<T> problem;
  std::vector<T> input;
  std::vector<T> weight;
  std::vector<T> bias;
  std::vector<T> output;
  std::vector<T> doutput;
  std::vector<T> dinput;
  std::vector<T> dweight;
  std::vector<T> dbias;
};

/// What the layer's two passes should give, in long double.
template <typename T>
struct LayerReference {
  explicit LayerReference(const Layer<T>& layer)
      : output(layer.output.size(), 0),
        dinput(layer.input.size(), 0),
        dweight(layer.weight.size(), 0),
        dbias(layer.problem.bias == nullptr ? 0 : layer.bias.size(), 0) {
    const auto [rows, in, out] =
        std::array{layer.problem.rows, layer.problem.in, layer.problem.out};
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < out; ++j) {
        long double z = dbias.empty() ? 0 : layer.bias[j];
        for (Index k = 0; k < in; ++k) {
          z += static_cast<long double>(layer.input[i * in + k]) * layer.weight[k * out + j];
        }
        long double slope = 1;
        if (layer.problem.activation == Activation::relu) {
          slope = z > 0 ? 1 : 0;
          z *= slope;
        } else if (layer.problem.activation == Activation::sigmoid) {
          z = 1 / (1 + std::exp(-z));
          slope = z * (1 - z);
        }
        output[i * out + j] = z;
        const long double dz = slope * layer.doutput[i * out + j];
        if (!dbias.empty()) dbias[j] += dz;
        for (Index k = 0; k < in; ++k) {
          dinput[i * in + k] += dz * layer.weight[k * out + j];
          dweight[k * out + j] += dz * layer.input[i * in + k];
        }
      }
    }
  }

  std::vector<long double> output;
  std::vector<long double> dinput;
  std::vector<long double> dweight;
  std::vector<long double> dbias;
};

/// All numbers are below 1 and all sums shorter than 40 terms.
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
        Layer<T> layer(rows, in, out, activation);
        if (!with_bias) layer.problem.bias = nullptr;
        const LayerReference<T> expected(layer);
        this->backend_.linear(layer.problem);
        expect_near(layer.output, expected.output);

        LinearBackwardProblem<T> backward = layer.backward();
        if (!with_bias) backward.bias = {};
        this->backend_.linear_backward(backward);
        expect_near(layer.dinput, expected.dinput);
        expect_near(layer.dweight, expected.dweight);
        if (with_bias) expect_near(layer.dbias, expected.dbias);
      }
    }
  }
}

TYPED_TEST(SerialMatrix, LinearBackwardLeavesOutWhatNobodyNeeds) {
  using T = TypeParam;
  Layer<T> layer(3, 5, 7, Activation::relu);
  this->backend_.linear(layer.problem);
  LinearBackwardProblem<T> backward = layer.backward();
  backward.dinput = nullptr;
  backward.weight = {};
  const LayerReference<T> expected(layer);
  this->backend_.linear_backward(backward);
  expect_near(layer.dbias, expected.dbias);
}

TYPED_TEST(SerialMatrix, LinearBackwardCanUpdateAtOnce) {
  using T = TypeParam;
  Layer<T> layer(6, 5, 7, Activation::sigmoid);
  this->backend_.linear(layer.problem);
  const LayerReference<T> expected(layer);  // of the weights before the update
  std::vector<long double> updated_weight = widened(layer.weight);
  std::vector<long double> updated_bias = widened(layer.bias);
  const T rate = T{0.5};
  const T l2 = T{0.25};
  for (std::size_t i = 0; i < updated_weight.size(); ++i) {
    updated_weight[i] -= rate * (expected.dweight[i] + l2 * updated_weight[i]);
  }
  for (std::size_t i = 0; i < updated_bias.size(); ++i) {
    updated_bias[i] -= rate * expected.dbias[i];
  }

  LinearBackwardProblem<T> backward = layer.backward();
  backward.weight.parameter = layer.weight.data();
  backward.weight.learning_rate = rate;
  backward.weight.l2 = l2;
  backward.bias.parameter = layer.bias.data();
  backward.bias.learning_rate = rate;
  this->backend_.linear_backward(backward);
  expect_near(layer.dinput, expected.dinput);
  expect_near(layer.weight, updated_weight);
  expect_near(layer.bias, updated_bias);
}

}  // namespace
}  // namespace stagewise

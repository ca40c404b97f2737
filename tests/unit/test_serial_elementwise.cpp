/// @file
/// What stage 01 does at the edges of numbers, and that every activation goes back by its
/// derivative. What it computes else, tests/golden proves against PyTorch, and tests/cross_stage
/// against the other stages, on many shapes and in both precisions.

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/elementwise.hpp"
#include "01_serial/loss.hpp"
#include "01_serial/predict.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

template <typename T>
class SerialElementwise : public testing::Test {
 protected:
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T infinity = std::numeric_limits<T>::infinity();
};

TYPED_TEST_SUITE(SerialElementwise, Precisions, PrecisionNames);

TYPED_TEST(SerialElementwise, ReluKeepsNaNAndInfinity) {
  using T = TypeParam;
  const std::vector<T> x = {this->nan, this->infinity, -this->infinity, T{0}, T{-0.0}};
  std::vector<T> y = poison<T>(5);
  serial::activate(Activation::relu, 5, x.data(), y.data());
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], this->infinity);
  EXPECT_EQ(y[2], 0);
  EXPECT_EQ(y[3], 0);
  EXPECT_EQ(y[4], 0);
}

TYPED_TEST(SerialElementwise, DerivativeOfReluAtZeroIsZero) {
  using T = TypeParam;
  const std::vector<T> y = {T{0}, T{-0.0}, std::numeric_limits<T>::denorm_min()};
  const std::vector<T> dy = {T{3}, T{3}, T{3}};
  std::vector<T> dx = poison<T>(3);
  serial::activate_backward(Activation::relu, 3, y.data(), dy.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<T>{0, 0, 3}));
}

TYPED_TEST(SerialElementwise, SigmoidSaturatesWithoutNaN) {
  using T = TypeParam;
  const std::vector<T> x = {T{-1e4}, T{1e4}, -this->infinity, this->infinity, T{0}, this->nan};
  std::vector<T> y = poison<T>(6);
  y[5] = 0;
  serial::activate(Activation::sigmoid, 6, x.data(), y.data());
  EXPECT_TRUE(std::isnan(y[5]));
  y.pop_back();
  EXPECT_EQ(y, (std::vector<T>{0, 1, 0, 1, 0.5}));
}

/// Whatever is added: the way back is the derivative, by central differences.
TEST(SerialActivations, EachGoesBackByItsDerivative) {
  const std::vector<double> x = random_values<double>(200, 3, -4, 4);
  const auto n = std::ssize(x);
  for (const ActivationNames& one : activations) {
    if (!serial::computes(one.activation)) continue;
    const auto at = [&](double shift) {
      std::vector<double> values = x;
      for (double& value : values) value += shift;
      serial::activate(one.activation, n, values.data(), values.data());
      return values;
    };
    constexpr double step = 1e-5;
    const std::vector<double> before = at(-step);
    const std::vector<double> after = at(step);
    const std::vector<double> y = at(0);
    std::vector<double> gradients(x.size(), 3.0);
    serial::activate_backward(one.activation, n, y.data(), gradients.data(), gradients.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (one.activation == Activation::relu && std::abs(x[i]) < step) continue;  // the kink
      EXPECT_NEAR(gradients[i], 3 * (after[i] - before[i]) / (2 * step), 1e-8) << one.name << " at " << x[i];
    }
  }
}

TYPED_TEST(SerialElementwise, SoftmaxCrossEntropyOfHugeLogitsIsFinite) {
  using T = TypeParam;
  const std::vector<T> logits = {T{1e4},  T{-1e4}, T{0},      // the label has the largest logit
                                 T{1e4},  T{-1e4}, T{0},      // the label has the smallest one
                                 T{-1e4}, T{-1e4}, T{-1e4}};  // all underflow but for the shift
  const std::vector<std::int32_t> labels = {0, 1, 2};
  std::vector<T> p = poison<T>(9);
  std::vector<T> losses = poison<T>(3);
  serial::softmax_cross_entropy(3, 3, logits.data(), labels.data(), p.data(), losses.data());
  expect_close(losses, {0, 2e4L, std::log(3.0L)}, 4);
  expect_close(p, {1, 0, 0, 1, 0, 0, 1 / 3.0L, 1 / 3.0L, 1 / 3.0L}, 4);
}

TYPED_TEST(SerialElementwise, SoftmaxCrossEntropyOfNaNIsNaN) {
  using T = TypeParam;
  for (const Index place : {0, 1, 2}) {
    std::vector<T> logits = {T{1}, T{2}, T{3}};
    logits[place] = this->nan;
    const std::int32_t label = 1;
    std::vector<T> p(3);
    T loss = 0;
    serial::softmax_cross_entropy(1, 3, logits.data(), &label, p.data(), &loss);
    EXPECT_TRUE(std::isnan(loss)) << "a NaN in column " << place << " got lost";
  }
}

TYPED_TEST(SerialElementwise, LowestColumnWinsTies) {
  using T = TypeParam;
  const std::vector<T> x = {1, 3, 3, 2, 2, 2, 0, T{-0.0}, -1};
  std::vector<std::int32_t> out = {-7, -7, -7};
  serial::argmax(3, 3, x.data(), out.data());
  EXPECT_EQ(out, (std::vector<std::int32_t>{1, 0, 0}));
}

TYPED_TEST(SerialElementwise, ThresholdIncludesTheCut) {
  using T = TypeParam;
  const std::vector<T> x = {std::nextafter(T{0.5}, T{0}), T{0.5}, std::nextafter(T{0.5}, T{1}), this->nan};
  std::vector<std::int32_t> out = {-7, -7, -7, -7};
  serial::threshold(4, T{0.5}, x.data(), out.data());
  EXPECT_EQ(out, (std::vector<std::int32_t>{0, 1, 1, 0}));
}

}  // namespace
}  // namespace stagewise

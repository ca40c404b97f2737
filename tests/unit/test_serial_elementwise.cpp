#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/elementwise.hpp"
#include "01_serial/update.hpp"
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

struct Size {
  Index rows;
  Index cols;
};

const std::vector<Size> sizes = {{1, 1}, {1, 7}, {7, 1}, {3, 5}, {13, 17}, {31, 64}, {5, 131}};
const std::vector<Index> lengths = {0, 1, 2, 7, 31, 64, 131, 1009};

TYPED_TEST(SerialElementwise, AddBias) {
  using T = TypeParam;
  for (const auto [rows, cols] : sizes) {
    const auto x = random_values<T>(rows * cols, 2, -3, 5);
    const auto bias = random_values<T>(cols, 3);
    std::vector<long double> expected = widened(x);
    for (Index i = 0; i < rows * cols; ++i) expected[i] += bias[i % cols];

    std::vector<T> y = poison<T>(rows * cols);
    serial::add_bias(rows, cols, x.data(), bias.data(), y.data());
    expect_close(y, expected);

    std::vector<T> in_place = x;
    serial::add_bias(rows, cols, in_place.data(), bias.data(), in_place.data());
    EXPECT_EQ(in_place, y);
  }
}

TYPED_TEST(SerialElementwise, AddWritesExactlyTheElementsAskedFor) {
  using T = TypeParam;
  for (const Index n : lengths) {
    const auto x = random_values<T>(n, 12, -3, 5);
    const auto y = random_values<T>(n, 13);
    std::vector<long double> expected = widened(x);
    for (Index i = 0; i < n; ++i) expected[i] += y[i];

    std::vector<T> z = poison<T>(n + 1);
    serial::add(n, x.data(), y.data(), z.data());
    EXPECT_TRUE(std::isnan(z.back()));
    z.pop_back();
    expect_close(z, expected);

    std::vector<T> in_place = x;
    serial::add(n, in_place.data(), y.data(), in_place.data());
    EXPECT_EQ(in_place, z);
  }
}

/// An activation by its definition, and its derivative as a function of its value.
struct Definition {
  Activation activation;
  long double (*of)(long double x);
  long double (*slope)(long double y);
};

const std::vector<Definition> definitions = {
    {Activation::relu, [](long double x) { return std::max(x, 0.0L); },
     [](long double y) { return y > 0 ? 1.0L : 0.0L; }},
    {Activation::sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); },
     [](long double y) { return y * (1 - y); }}};

TYPED_TEST(SerialElementwise, ActivationsAndTheWayBackAreAsDefined) {
  using T = TypeParam;
  for (const auto& [activation, of, slope] : definitions) {
    for (const Index n : lengths) {
      const auto x = random_values<T>(n, 7, -9, 6);
      std::vector<long double> expected = widened(x);
      for (long double& value : expected) value = of(value);
      std::vector<T> y = poison<T>(n);
      serial::activate(activation, n, x.data(), y.data());
      expect_close(y, expected, 4);
      std::vector<T> in_place = x;
      serial::activate(activation, n, in_place.data(), in_place.data());
      EXPECT_EQ(in_place, y);

      const auto dy = random_values<T>(n, 9, -4, 3);
      for (Index i = 0; i < n; ++i) expected[i] = dy[i] * slope(y[i]);
      std::vector<T> dx = poison<T>(n);
      serial::activate_backward(activation, n, y.data(), dy.data(), dx.data());
      expect_close(dx, expected, 4);
      in_place = dy;
      serial::activate_backward(activation, n, y.data(), in_place.data(), in_place.data());
      EXPECT_EQ(in_place, dx);
    }
  }
}

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
      EXPECT_NEAR(gradients[i], 3 * (after[i] - before[i]) / (2 * step), 1e-8)
          << one.name << " at " << x[i];
    }
  }
}

TYPED_TEST(SerialElementwise, SgdUpdate) {
  using T = TypeParam;
  for (const Index n : lengths) {
    for (const T l2 : {T{0}, T{0.25}}) {
      const T rate = T{0.125};
      const auto gradient = random_values<T>(n, 10, -2, 3);
      std::vector<T> parameter = random_values<T>(n, 11);
      std::vector<long double> expected = widened(parameter);
      std::vector<long double> bounds(expected.size());
      for (Index i = 0; i < n; ++i) {
        const long double w = expected[i];
        expected[i] = w - rate * (gradient[i] + l2 * w);
        bounds[i] = 2 * std::numeric_limits<T>::epsilon() *
                    (std::abs(w) + rate * (std::abs(gradient[i]) + l2 * std::abs(w)));
      }
      serial::sgd_update(n, rate, l2, gradient.data(), parameter.data());
      expect_within(parameter, expected, bounds);
    }
  }
}

}  // namespace
}  // namespace stagewise

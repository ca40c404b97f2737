#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/loss.hpp"
#include "01_serial/predict.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

template <typename T>
class SerialLoss : public testing::Test {
 protected:
  static constexpr T epsilon = std::numeric_limits<T>::epsilon();
};

TYPED_TEST_SUITE(SerialLoss, Precisions, PrecisionNames);

struct LossSize {
  Index rows;
  Index cols;
};

const std::vector<LossSize> loss_sizes = {{1, 1},    {1, 2},   {2, 3},   {7, 10},
                                          {100, 10}, {13, 31}, {3, 1009}};

long double target(Index cols, Index j, std::int32_t label) {
  return cols == 1 ? label : (j == label ? 1 : 0);
}

/// For a single output the label is a number to come close to, so let it be larger than a class.
std::vector<std::int32_t> labels_for(Index rows, Index cols, std::uint64_t seed) {
  return random_labels(rows, cols == 1 ? 4 : cols, seed);
}

TYPED_TEST(SerialLoss, SoftmaxCrossEntropy) {
  using T = TypeParam;
  for (const auto [rows, cols] : loss_sizes) {
    const auto logits = random_values<T>(rows * cols, 1, -6, 4);
    const auto labels = random_labels(rows, cols, 2);
    std::vector<long double> expected_p(logits.size());
    std::vector<long double> expected_losses(labels.size());
    for (Index i = 0; i < rows; ++i) {
      long double sum = 0;
      for (Index j = 0; j < cols; ++j)
        sum += std::exp(static_cast<long double>(logits[i * cols + j]));
      for (Index j = 0; j < cols; ++j) {
        expected_p[i * cols + j] = std::exp(static_cast<long double>(logits[i * cols + j])) / sum;
      }
      expected_losses[i] = -std::log(expected_p[i * cols + labels[i]]);
    }

    std::vector<T> p = poison<T>(rows * cols);
    std::vector<T> losses = poison<T>(rows);
    serial::softmax_cross_entropy(rows, cols, logits.data(), labels.data(), p.data(),
                                  losses.data());
    // The exponents are up to 10 apart and each sum has `cols` terms: so many roundings.
    const auto units = static_cast<double>(cols) + 15;
    expect_close(p, expected_p, units);
    expect_within(losses, expected_losses,
                  std::vector<long double>(labels.size(), units * this->epsilon));
  }
}

TYPED_TEST(SerialLoss, SoftmaxCrossEntropyOfHugeLogitsIsFinite) {
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

TYPED_TEST(SerialLoss, SoftmaxCrossEntropyOfNaNIsNaN) {
  using T = TypeParam;
  for (const Index place : {0, 1, 2}) {
    std::vector<T> logits = {T{1}, T{2}, T{3}};
    logits[place] = std::numeric_limits<T>::quiet_NaN();
    const std::int32_t label = 1;
    std::vector<T> p(3);
    T loss = 0;
    serial::softmax_cross_entropy(1, 3, logits.data(), &label, p.data(), &loss);
    EXPECT_TRUE(std::isnan(loss)) << "a NaN in column " << place << " got lost";
  }
}

TYPED_TEST(SerialLoss, SquaredError) {
  using T = TypeParam;
  for (const auto [rows, cols] : loss_sizes) {
    const auto outputs = random_values<T>(rows * cols, 5, -2, 3);
    const auto labels = labels_for(rows, cols, 6);
    std::vector<long double> expected(labels.size(), 0);
    for (Index i = 0; i < rows * cols; ++i) {
      const long double difference = target(cols, i % cols, labels[i / cols]) - outputs[i];
      expected[i / cols] += difference * difference;
    }
    std::vector<T> losses = poison<T>(rows);
    serial::squared_error(rows, cols, outputs.data(), labels.data(), losses.data());
    expect_close(losses, expected, static_cast<double>(cols) + 3);
  }
}

TYPED_TEST(SerialLoss, ArgMax) {
  using T = TypeParam;
  for (const auto [rows, cols] : loss_sizes) {
    const auto x = random_values<T>(rows * cols, 9, -5, -1);
    std::vector<std::int32_t> expected;
    for (Index i = 0; i < rows; ++i) {
      const auto row = x.begin() + i * cols;
      expected.push_back(static_cast<std::int32_t>(std::max_element(row, row + cols) - row));
    }
    std::vector<std::int32_t> out(static_cast<std::size_t>(rows), -7);
    serial::argmax(rows, cols, x.data(), out.data());
    EXPECT_EQ(out, expected);
  }
}

TYPED_TEST(SerialLoss, LowestColumnWinsTies) {
  using T = TypeParam;
  const std::vector<T> x = {1, 3, 3, 2, 2, 2, 0, T{-0.0}, -1};
  std::vector<std::int32_t> out = {-7, -7, -7};
  serial::argmax(3, 3, x.data(), out.data());
  EXPECT_EQ(out, (std::vector<std::int32_t>{1, 0, 0}));
}

TYPED_TEST(SerialLoss, ThresholdIncludesTheCut) {
  using T = TypeParam;
  const std::vector<T> x = {std::nextafter(T{0.5}, T{0}), T{0.5}, std::nextafter(T{0.5}, T{1}),
                            std::numeric_limits<T>::quiet_NaN()};
  std::vector<std::int32_t> out = {-7, -7, -7, -7};
  serial::threshold(4, T{0.5}, x.data(), out.data());
  EXPECT_EQ(out, (std::vector<std::int32_t>{0, 1, 1, 0}));
}

TYPED_TEST(SerialLoss, AccumulateAddsInDoubleWhateverThePrecision) {
  using T = TypeParam;
  const Index rows = 1009;
  const auto losses = random_values<T>(rows, 10, 0, 3);
  const auto labels = random_labels(rows, 3, 11);
  const auto predictions = random_labels(rows, 3, 12);
  Totals totals{.loss = 100, .correct = 7};
  double expected_loss = 0;
  std::int64_t expected_correct = 7;
  for (Index i = 0; i < rows; ++i) {
    expected_loss += static_cast<double>(losses[i]);
    if (predictions[i] == labels[i]) ++expected_correct;
  }
  serial::accumulate(rows, 5, losses.data(), predictions.data(), labels.data(), &totals);
  EXPECT_EQ(totals.loss, 100 + expected_loss);
  EXPECT_EQ(totals.correct, expected_correct);
  EXPECT_GT(totals.correct, 7);
  EXPECT_EQ(totals.first_bad_step, -1);
}

TYPED_TEST(SerialLoss, AccumulateRemembersTheFirstStepThatWasNotFinite) {
  using T = TypeParam;
  const std::vector<std::int32_t> labels = {0, 1, 0};
  Totals totals;
  const auto step = [&](std::int64_t number, T middle) {
    const std::vector<T> losses = {1, middle, 2};
    serial::accumulate(3, number, losses.data(), labels.data(), labels.data(), &totals);
    return totals.first_bad_step;
  };
  EXPECT_EQ(step(1, 5), -1);
  EXPECT_EQ(step(2, std::numeric_limits<T>::infinity()), 2);
  EXPECT_TRUE(std::isinf(totals.loss));
  EXPECT_EQ(step(3, 5), 2);
  EXPECT_EQ(step(4, std::numeric_limits<T>::quiet_NaN()), 2);
  EXPECT_TRUE(std::isnan(totals.loss));
  EXPECT_EQ(totals.correct, 12);

  totals = {};
  EXPECT_EQ(step(9, std::numeric_limits<T>::quiet_NaN()), 9);
}

}  // namespace
}  // namespace stagewise

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/reduce.hpp"
#include "ladders/reduce/serial.hpp"
#include "ladders/transpose/serial.hpp"
#include "support.hpp"

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

}  // namespace
}  // namespace stagewise

#include <algorithm>

#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

/// Softmax of rows in double, with the largest score subtracted.
std::vector<float> softmax_of(int columns, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += columns) {
    const double largest = *std::max_element(x.begin() + row, x.begin() + row + columns);
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += std::exp(x[row + i] - largest);
    for (int i = 0; i < columns; ++i) {
      y[row + i] = static_cast<float>(std::exp(x[row + i] - largest) / sum);
    }
  }
  return y;
}

/// Compares for a matrix. @param scores names them: "with large scores".
void check_softmax(int columns, const std::vector<float>& x, const std::string& scores) {
  const int rows = static_cast<int>(x.size()) / columns;
  const std::string what = say("For ", rows, " rows of ", columns, " numbers, with ", scores);
  DeviceArray<float> device(x, "x");
  DeviceArray<float> y(x.size(), "y");
  softmax(rows, columns, device.data(), y.data());
  expect_no_error(what);
  expect_equal(y.values(), softmax_of(columns, x), what, columns, 1e-6);
}

/// Compares for matrices of several sizes, whose numbers are factor x number + summand.
void check_sizes(float factor, float summand, const std::string& scores) {
  for (const auto [rows, columns] :
       {std::pair{3, 5}, {1, 1}, {5, 31}, {6, 32}, {3, 33}, {9, 100}}) {
    std::vector<float> x = numbers(rows * columns);
    for (float& number : x) number = factor * number + summand;
    check_softmax(columns, x, scores);
  }
}

}  // namespace

void check() {
  check_sizes(1, 0, "small scores");
  pass("probabilities are right for small scores");
  check_sizes(4, 1000, "large scores (about 1000)");
  check_sizes(200, 0, "large scores (-400 to 400)");
  pass("probabilities are right for large scores");
  check_sizes(4, -1000, "very negative scores (about -1000)");
  pass("probabilities are right for very negative scores");
  for (const float score : {0.f, 100.f, -1e30f, 1e30f}) {
    check_softmax(70, std::vector<float>(2 * 70, score), "equal scores of " + text(score));
  }
  pass("probabilities are right for equal scores");
  for (const int columns : {2, 33, 100}) {
    std::vector<float> x = numbers(3 * columns);
    for (int i = 0; i < columns; ++i) {
      if (i % 2 == 0) x[i] = -INFINITY;                  // the first one, too
      if (i != columns - 1) x[columns + i] = -INFINITY;  // all but the last one
      if (i > 0) x[2 * columns + i] = -INFINITY;         // all but the first one
    }
    check_softmax(columns, x, "some scores of -infinity");
  }
  pass("probabilities are right for rows with scores of -infinity");

  const int rows = 40;
  const int columns = 96;
  DeviceArray<float> x(numbers(rows * columns), "x");
  DeviceArray<float> y(rows * columns, "y");
  count([&] { softmax(rows, columns, x.data(), y.data()); },
        [](const Counts& counts) {
          const std::string what = "For 40 rows of 96 numbers";
          expect_threads(counts, what, 32 * 40, "a warp for each row");
          expect_full_warps(counts, what);
          expect_sectors(counts.sectors_per_load, 4.5, what, "load",
                         "if a warp computes a row, and its threads read neighbouring numbers");
        });
  pass_counted("a warp computes a row");
}

}  // namespace exercise

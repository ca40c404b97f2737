#include "check.hpp"

#include EXERCISE_FILE

// Names of the learner's, such as rank(), are hidden here by those of the check.
namespace exercise {
namespace {

void check_layer(int rows, int inputs, int columns) {
  begin_case("For " + counted(rows, "row") + ", " + counted(inputs, "input") + " and " +
                 counted(columns, "column"),
             "do all ranks take part in the operation, also those without columns?");
  const std::vector<float> x = numbers(rows * inputs, 1);
  const std::vector<float> w = numbers(inputs * columns, 2);
  std::vector<float> expected(rows * columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      for (int k = 0; k < inputs; ++k) {
        expected[i * columns + j] += x[i * inputs + k] * w[k * columns + j];
      }
    }
  }
  const int own = columns / ranks() + (rank() < columns % ranks() ? 1 : 0);
  const int first = columns / ranks() * rank() + std::min(rank(), columns % ranks());
  std::vector<float> own_w;
  for (int k = 0; k < inputs; ++k) {
    for (int j = 0; j < own; ++j) own_w.push_back(w[k * columns + first + j]);
  }

  messages = {};
  const std::vector<float> y = layer(x, own_w, rows, inputs, columns);
  const std::string what = "For " + counted(rows, "row") + ", " + counted(inputs, "input") +
                           " and " + counted(columns, "column") + ", " + here();
  expect(y.size() == expected.size(), what + ", the result has " + counted(y.size(), "number") +
                                          " instead of " + std::to_string(expected.size()) + ".");
  expect_equal(y, expected, what, columns);
  expect(messages.sent == 0, what + ", " + counted(messages.sent, "message") +
                                 " went to single ranks; one collective operation is enough.");
  expect(ranks() == 1 || messages.collectives == 1,
         what + ", " + counted(messages.collectives, "collective operation") +
             " took place instead of one.");
  const double bytes = 4.0 * rows * own;
  expect(ranks() == 1 || messages.given_bytes <= bytes,
         what + ", the rank passes on " + text(messages.given_bytes) +
             " bytes, but its own columns of y have only " + text(bytes) + ".");
}

void check_all() {
  check_layer(1, 4, 6);
  check_layer(5, 7, 12);
  check_layer(1, 1, 5);
  check_layer(33, 20, 31);
  check_layer(3, 8, 1);
  check_layer(17, 5, 2);
  pass("y is right for six sizes, and each rank passes on its own columns only");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::check_all();
}

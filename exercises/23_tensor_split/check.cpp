#include <algorithm>

#include "check_mpi.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

void check_layer(int rows, int inputs, int columns) {
  begin_case(say("For ", several(rows, "row"), ", ", several(inputs, "input"), " and ",
                 several(columns, "column")),
             "do all ranks take part in the operation, also those without columns?");
  const std::vector<float> x = numbers(rows * inputs, 1);
  const std::vector<float> w = numbers(inputs * columns, 2);
  const int own = columns / ranks() + (rank() < columns % ranks() ? 1 : 0);
  const int first = columns / ranks() * rank() + std::min(rank(), columns % ranks());
  std::vector<float> own_w;
  for (int k = 0; k < inputs; ++k) {
    for (int j = 0; j < own; ++j) own_w.push_back(w[k * columns + first + j]);
  }

  const std::vector<float> y = layer(x, own_w, rows, inputs, columns);
  expect_equal(y, product_of(rows, columns, inputs, x, w), who(), columns);
  if (ranks() == 1) return;
  expect_one_collective("");
  const double bytes = 4.0 * rows * own;
  expect(messages.given_bytes <= bytes, who(), " passes on ", messages.given_bytes,
         " bytes, but its own columns of y have only ", bytes, ".");
}

}  // namespace

void check() {
  const int sizes[][3] = {{1, 4, 6}, {5, 7, 12}, {1, 1, 5}, {33, 20, 31}, {3, 8, 1}, {17, 5, 2}};
  for (const auto& [rows, inputs, columns] : sizes) check_layer(rows, inputs, columns);
  pass_on_all("y is right for six sizes, and each rank passes on its own columns only");
}

}  // namespace exercise

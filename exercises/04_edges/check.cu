#include <cmath>
#include <limits>

#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

/// Computes an outer product, and ends the check if it is wrong.
void check_product(int m, int n) {
  const std::string what = "For " + std::to_string(m) + " x " + std::to_string(n);
  const std::vector<float> a = numbers(m, 1);
  const std::vector<float> b = numbers(n, 2);
  std::vector<float> expected(m * n);
  for (int i = 0; i < m * n; ++i) expected[i] = a[i / n] * b[i % n];
  DeviceArray<float> device_a(a, "a");
  DeviceArray<float> device_b(b, "b");
  DeviceArray<float> device_c(std::vector<float>(m * n, std::numeric_limits<float>::quiet_NaN()),
                              "c");
  outer_product(m, n, device_a.data(), device_b.data(), device_c.data());
  expect_no_error(what);

  const std::vector<float> c = device_c.values();
  int unset = 0;
  int first = 0;
  for (int i = m * n - 1; i >= 0; --i) {
    if (!std::isnan(c[i])) continue;
    ++unset;
    first = i;
  }
  const std::string place =
      "c[" + std::to_string(first / n) + ", " + std::to_string(first % n) + "]";
  expect(unset == 0, what + ", " + std::to_string(unset) + " of the " + std::to_string(m * n) +
                         (m * n == 1   ? " element has"
                          : unset == 1 ? " elements has"
                                       : " elements have") +
                         " not been set, " + (unset == 1 ? "namely " : "the first is ") + place +
                         ": there is no thread for " + (unset == 1 ? "it." : "them."));
  expect_equal(c, expected, what, n);
}

void run() {
  check_product(64, 32);
  pass("it is right for multiples of 16");
  const int sizes[][2] = {{37, 53}, {5, 40}, {1, 1}, {1, 33}, {100, 1}, {16, 17}, {31, 16}};
  for (const auto& [m, n] : sizes) check_product(m, n);
  pass("it is right for seven other sizes");

  const int m = 70;
  const int n = 100;
  DeviceArray<float> a(numbers(m, 1), "a");
  DeviceArray<float> b(numbers(n, 2), "b");
  DeviceArray<float> c(m * n, "c");
  count([&] { outer_product(m, n, a.data(), b.data(), c.data()); },
        [](const Counts& counts) {
          expect_threads(counts, "For 70 x 100", 7000, "one for each element of c");
          const auto [grid, block] = counts.shape;
          expect(grid.x > 1 && grid.y > 1 && block.x > 1 && block.y > 1,
                 "For 70 x 100, c is right, but the launch has " + described(counts.shape) +
                     "; let both the grid and the blocks have two dimensions, such as 7 x 5 blocks "
                     "of 16 x 16 threads.");
        });
  pass_counted("the grid and its blocks are two-dimensional");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

/// Computes an outer product, and ends the check if it is wrong.
void check_product(int m, int n) {
  const std::string what = say("For ", m, " x ", n);
  const std::vector<float> a = numbers(m, 1);
  const std::vector<float> b = numbers(n, 2);
  DeviceArray<float> device_a(a, "a");
  DeviceArray<float> device_b(b, "b");
  DeviceArray<float> c(std::vector<float>(m * n, NAN), "c");
  calls();
  outer_product(m, n, device_a.data(), device_b.data(), c.data());
  expect_no_error(what);
  const auto [grid, block] = calls().shape;
  const bool has_threads =
      grid.x * block.x >= static_cast<unsigned>(n) && grid.y * block.y >= static_cast<unsigned>(m);
  expect_set(c.values(), what, n,
             has_threads ? ": they have threads, but these do not write them; which of row and "
                           "column must be less than m, and which less than n?"
                         : ": there is no thread for them");
  expect_equal(c.values(), product_of(m, n, 1, a, b), what, n);
}

}  // namespace

void check() {
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
                 "For 70 x 100, c is right, but the launch has ", described(counts.shape),
                 "; let both the grid and the blocks have two dimensions, such as 7 x 5 blocks of "
                 "16 x 16 threads.");
        });
  pass_counted("the grid and its blocks are two-dimensional");
}

}  // namespace exercise

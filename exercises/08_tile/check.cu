#include <cmath>
#include <limits>

#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

/// Multiplies two matrices, and ends the check if the result is wrong.
void check_product(int m, int n, int k) {
  const std::string what = "For the product of " + std::to_string(m) + " x " + std::to_string(k) +
                           " and " + std::to_string(k) + " x " + std::to_string(n);
  const std::vector<float> a = numbers(m * k, 1);
  const std::vector<float> b = numbers(k * n, 2);
  std::vector<float> expected(m * n);
  for (int i = 0; i < m; ++i) {
    for (int l = 0; l < k; ++l) {
      for (int j = 0; j < n; ++j) expected[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  DeviceArray<float> device_a(a, "a");
  DeviceArray<float> device_b(b, "b");
  DeviceArray<float> device_c(std::vector<float>(m * n, std::numeric_limits<float>::quiet_NaN()),
                              "c");
  gemm(m, n, k, device_a.data(), device_b.data(), device_c.data());
  expect_no_error(what);
  const std::vector<float> c = device_c.values();
  for (int i = 0; i < m * n; ++i) {
    expect(!std::isnan(c[i]),
           what + ", C[" + std::to_string(i / n) + ", " + std::to_string(i % n) +
               "] has not been set, or something was added to what was there before.");
  }
  expect_equal(c, expected, what, n);
}

void run() {
  const int sizes[][3] = {{32, 32, 32}, {1, 1, 1},  {17, 33, 5},
                          {37, 53, 41}, {1, 70, 3}, {33, 1, 40}};
  for (const auto& [m, n, k] : sizes) check_product(m, n, k);
  pass("the products are right, for six sizes");

  const int m = 96;
  const int n = 64;
  const int k = 80;
  DeviceArray<float> a(numbers(m * k, 1), "a");
  DeviceArray<float> b(numbers(k * n, 2), "b");
  DeviceArray<float> c(m * n, "c");
  count([&] { gemm(m, n, k, a.data(), b.data(), c.data()); },
        [](const Counts& counts) {
          const std::string what = "For the product of 96 x 80 and 80 x 64";
          expect_kernel(counts, what);
          expect(counts.asked_bytes <= 4 * counts.distinct_bytes,
                 what + ", each byte of the matrices is asked for " +
                     text(counts.asked_bytes / counts.distinct_bytes) +
                     " times on average; with tiles of 16 x 16 in shared memory, 3.6 times are "
                     "enough.");
          expect(counts.shared_loads > 0,
                 what +
                     ", no thread reads from shared memory; let the threads of a block copy "
                     "tiles of A and B there, and multiply from there.");
          expect_full_warps(counts, what);
        });
  pass_counted("what a block loads serves all of its threads");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

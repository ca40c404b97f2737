#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

/// Whether the product is right.
bool is_right(int m, int n, int k, const std::vector<float>& a, const std::vector<float>& b) {
  DeviceArray<float> device_a(a, "a");
  DeviceArray<float> device_b(b, "b");
  DeviceArray<float> c(m * n, "c");
  gemm(m, n, k, device_a.data(), device_b.data(), c.data());
  return c.values() == product_of(m, n, k, a, b);
}

/// Compares a product. Where numbers are all equal, it does not matter which of them a thread
/// takes.
void expect_product(const std::vector<float>& c, int m, int n, int k, const std::vector<float>& a,
                    const std::vector<float>& b, const std::string& what) {
  const std::vector<float> expected = product_of(m, n, k, a, b);
  if (c == expected) return;
  const bool without_a = is_right(m, n, k, std::vector<float>(m * k, 1), b);
  const bool without_b = is_right(m, n, k, a, std::vector<float>(k * n, 1));
  const std::string where = without_a == without_b ? "" : without_a ? "A" : "B";
  expect(where.empty(), what, ", C is wrong, but is right if all numbers of ", where,
         " are equal: so a thread takes a wrong one of ", where,
         "; look at the indices of that matrix and of its tile.");
  expect_equal(c, expected, what, n);
}

}  // namespace

void check() {
  const int sizes[][3] = {{32, 32, 32}, {1, 1, 1},  {17, 33, 5},
                          {37, 53, 41}, {1, 70, 3}, {33, 1, 40}};
  for (const auto& [m, n, k] : sizes) {
    const std::string what = say("For the product of ", m, " x ", k, " and ", k, " x ", n);
    const std::vector<float> a = numbers(m * k, 1);
    const std::vector<float> b = numbers(k * n, 2);
    DeviceArray<float> device_a(a, "a");
    DeviceArray<float> device_b(b, "b");
    DeviceArray<float> c(std::vector<float>(m * n, NAN), "c");
    gemm(m, n, k, device_a.data(), device_b.data(), c.data());
    expect_no_error(what);
    expect_set(c.values(), what, n, ", or something was added to what was there before");
    expect_product(c.values(), m, n, k, a, b, what);
  }
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
          expect(counts.asked_bytes <= 4 * counts.distinct_bytes, what,
                 ", each byte of the matrices is asked for ",
                 counts.asked_bytes / counts.distinct_bytes,
                 " times on average; with tiles of 16 x 16 in shared memory, 3.6 times are "
                 "enough.");
          expect(counts.shared_loads > 0, what,
                 ", no thread reads from shared memory; let the threads of a block copy tiles of A "
                 "and B there, and multiply from there.");
          expect_full_warps(counts, what);
        });
  pass_counted("what a block loads serves all of its threads");
}

}  // namespace exercise

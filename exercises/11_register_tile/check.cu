#include "check_cuda.hpp"

#include EXERCISE_FILE

void exercise::check() {
  const int sizes[][3] = {{1, 1, 1},    {5, 3, 7},    {16, 16, 16},
                          {33, 65, 17}, {64, 64, 16}, {70, 31, 40}};
  for (const auto& [m, n, k] : sizes) {
    const std::string what = say("For m, n, k = ", m, ", ", n, ", ", k);
    const std::vector<float> a = numbers(m * k, 1);
    const std::vector<float> b = numbers(k * n, 2);
    DeviceArray<float> device_a(a, "a");
    DeviceArray<float> device_b(b, "b");
    DeviceArray<float> c(m * n, "c");
    product(m, n, k, device_a.data(), device_b.data(), c.data());
    expect_no_error(what);
    expect_equal(c.values(), product_of(m, n, k, a, b), what, n);
  }
  pass("six products are right");

  const int m = 128;
  const int n = 128;
  const int k = 16;
  DeviceArray<float> a(numbers(m * k, 1), "a");
  DeviceArray<float> b(numbers(k * n, 2), "b");
  DeviceArray<float> c(m * n, "c");
  count([&] { product(m, n, k, a.data(), b.data(), c.data()); },
        [](const Counts& counts) {
          const std::string what = "For m, n, k = 128, 128, 16";
          expect_threads(counts, what, 64, "each of which computes some numbers of c");
          expect_full_warps(counts, what);
          const double multiplications = m * n * k;
          const double global = counts.loaded_bytes / sizeof(float) / multiplications;
          expect(global <= 0.13, what, ", the kernel asks global memory for ", global,
                 " numbers for each multiplication; 0.125 are enough with tiles of 16 x 16 in "
                 "shared memory, fewer with larger ones.");
          const double shared = 32 * counts.shared_loads / multiplications;
          const double each = m * n / counts.shape.threads();
          expect(
              shared <= 0.6 || each < 8, what, ", a thread computes ", each,
              " numbers of c, and yet loads ", shared,
              " numbers from shared memory for each multiplication: in each step along k, let it "
              "load what it needs of a and b into variables, once, and then multiply these.");
          expect(shared <= 0.6, what, ", the kernel asks shared memory for ", shared,
                 " numbers for each multiplication; 0.5 are enough if a thread computes 4 x 4 "
                 "numbers of c in registers.");
        });
  pass_counted("few numbers are loaded from global memory, and from shared memory");
}

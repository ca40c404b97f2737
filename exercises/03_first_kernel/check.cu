#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

/// Adding multiples of these changes any number.
std::vector<float> positive_numbers(int count) {
  std::vector<float> result = numbers(count, 2);
  for (float& number : result) number += 3;
  return result;
}

void run() {
  const float a = 1.5F;
  for (const int n : {1000, 1, 31, 33, 256, 257, 5003}) {
    const std::string what = "For " + std::to_string(n) + " numbers";
    const std::vector<float> x = positive_numbers(n);
    const std::vector<float> before = numbers(n);
    std::vector<float> expected = before;
    for (int i = 0; i < n; ++i) expected[i] += a * x[i];
    DeviceArray<float> device_x(x, "x");
    DeviceArray<float> device_y(before, "y");
    const std::uint64_t before_call = launches();
    axpy(n, a, device_x.data(), device_y.data());
    expect_no_error(what);

    const std::vector<float> y = device_y.values();
    if (launches() == before_call) {
      expect(y == expected,
             what +
                 ", y is not right, and no kernel was launched: write a kernel, and launch it by "
                 "kernel<<<blocks, threads>>>(...).");
    }
    expect(y != before, what + ", a kernel was launched, but y is unchanged: it wrote nothing.");
    int changed = n;
    while (y[changed - 1] == before[changed - 1]) --changed;
    expect(changed == n || !std::equal(y.begin(), y.begin() + changed, expected.begin()),
           what + ", y is right up to [" + std::to_string(changed - 1) + "] and unchanged from [" +
               std::to_string(changed) + "] on: the launch had too few threads.");
    expect_equal(y, expected, what);
    expect(device_x.values() == x, what + ", x has changed; only y may.");
  }
  pass("y is right, for seven sizes");

  const int n = 4096;
  DeviceArray<float> x(numbers(n, 1), "x");
  DeviceArray<float> y(numbers(n, 2), "y");
  count([&] { axpy(n, a, x.data(), y.data()); },
        [](const Counts& counts) {
          expect_threads(counts, "For 4096 numbers", 4096, "one for each number");
          expect_blocks_of_warps(counts, "For 4096 numbers");
          expect(counts.loads <= 300,
                 "For 4096 numbers, there are " + std::to_string(static_cast<int>(counts.loads)) +
                     " loads; 256 are enough, one for 32 numbers of x or y, if all 32 threads of "
                     "each warp have a number to compute.");
        });
  pass_counted("warps work with all of their threads");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

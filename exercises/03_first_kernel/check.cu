#include <algorithm>

#include "check_cuda.hpp"

#include EXERCISE_FILE

void exercise::check() {
  const float a = 1.5F;
  for (const int n : {1000, 1, 31, 33, 256, 257, 5003}) {
    const std::string what = say("For ", n, " numbers");
    std::vector<float> x = numbers(n, 2);
    for (float& number : x) number += 3;  // adding multiples of these changes any number
    const std::vector<float> before = numbers(n);
    std::vector<float> expected = before;
    for (int i = 0; i < n; ++i) expected[i] += a * x[i];
    DeviceArray<float> device_x(x, "x");
    DeviceArray<float> device_y(before, "y");
    const std::uint64_t launches = calls().launches;
    axpy(n, a, device_x.data(), device_y.data());
    expect_no_error(what);

    const std::vector<float> y = device_y.values();
    expect(calls().launches > launches || y == expected, what,
           ", y is not right, and no kernel was launched: write a kernel, and launch it by "
           "kernel<<<blocks, threads>>>(...).");
    expect(y != before, what, ", a kernel was launched, but y is unchanged: it wrote nothing.");
    int changed = n;
    while (y[changed - 1] == before[changed - 1]) --changed;
    expect(changed == n || !std::equal(y.begin(), y.begin() + changed, expected.begin()), what,
           ", y is right up to [", changed - 1, "] and unchanged from [", changed,
           "] on: the launch had too few threads.");
    expect_equal(y, expected, what);
    expect(device_x.values() == x, what, ", x has changed; only y may.");
  }
  pass("y is right, for seven sizes");

  const int n = 4096;
  DeviceArray<float> x(numbers(n, 1), "x");
  DeviceArray<float> y(numbers(n, 2), "y");
  count([&] { axpy(n, a, x.data(), y.data()); },
        [](const Counts& counts) {
          expect_threads(counts, "For 4096 numbers", 4096, "one for each number");
          expect_blocks_of_warps(counts, "For 4096 numbers");
          expect(counts.loads <= 300, "For 4096 numbers, there are ", counts.loads,
                 " loads; 256 are enough, one for 32 numbers of x or y, if all 32 threads of each "
                 "warp have a number to compute.");
        });
  pass_counted("warps work with all of their threads");
}

#include "check_cuda.hpp"

#include EXERCISE_FILE

void exercise::check() {
  for (const int n : {128, 100, 1, 33, 129, 1024, 1500}) {
    const std::vector<float> x = numbers(n);
    std::vector<float> expected((n + 127) / 128);
    for (int i = 0; i < n; ++i) expected[i / 128] += x[i];
    const std::string what = say("For ", n, " numbers");
    DeviceArray<float> device_x(x, "x");
    DeviceArray<float> sums(std::vector<float>(expected.size(), NAN), "sums");
    block_sums(n, device_x.data(), sums.data());
    expect_no_error(what);
    expect_equal(sums.values(), expected, what);
  }
  pass("the sums are right, for seven sizes");

  DeviceArray<float> x(numbers(1024), "x");
  DeviceArray<float> sums(8, "sums");
  count([&] { block_sums(1024, x.data(), sums.data()); },
        [](const Counts& counts) {
          const std::string what = "For 1024 numbers";
          expect_kernel(counts, what);
          expect(counts.shape.blocks() == 8 && counts.shape.threads_of_block() == 128, what,
                 ", the sums are right, but the launch has ", described(counts.shape),
                 " instead of 8 blocks of 128 threads, a thread for each number.");
          expect(counts.loads <= 32, what, ", there are ", counts.loads,
                 " loads from global memory; 32 are enough, one for 32 numbers, if each number is "
                 "loaded once.");
          expect(counts.shared_loads >= 56 && counts.shared_loads <= 280,
                 "For 8 blocks, there are ", counts.shared_loads,
                 " loads from shared memory; a tree of 7 levels takes at least 56, and no more "
                 "than 280, since a warp loads 32 numbers at once.");
        });
  pass_counted("blocks add up in shared memory");
}

#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

void run() {
  for (const int n : {1, 31, 33, 1000, 5003}) {
    const std::vector<float> x = numbers(n);
    std::vector<float> squares = x;
    for (float& number : squares) number *= number;
    const std::string what = "For " + std::to_string(n) + " numbers";
    DeviceArray<float> device(x, "x");
    square_all(n, device.data());
    expect_no_error(what);
    expect_equal(device.values(), squares, what);
  }
  pass("the squares are right, for five sizes");

  for (const int n : {4096, 5003}) {
    DeviceArray<float> device(numbers(n), "x");
    count([&] { square_all(n, device.data()); },
          [&](const Counts& counts) {
            const std::string what = "For " + std::to_string(n) + " numbers";
            expect_kernel(counts, what);
            expect(counts.sectors_per_load <= 4.5,
                   what + ", a warp's load takes " + text(counts.sectors_per_load) +
                       " sectors of memory on average; 4 are enough if neighbouring threads read "
                       "neighbouring numbers.");
            expect_threads(counts, what, 64, "so that more than one warp is at work");
            expect(counts.shape.blocks() > 1,
                   what + ", the launch has a single block, of " +
                       several(counts.shape.threads_of_block(), "thread") +
                       ", so that most of a GPU is idle: launch more blocks.");
            expect_blocks_of_warps(counts, what);
            expect_full_warps(counts, what);
          });
  }
  pass_counted("warps load with all of their threads, and a load takes few sectors");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

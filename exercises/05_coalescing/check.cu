#include "check_cuda.hpp"

#include EXERCISE_FILE

void exercise::check() {
  for (const int n : {1, 31, 33, 1000, 5003}) {
    const std::vector<float> x = numbers(n);
    std::vector<float> squares = x;
    for (float& number : squares) number *= number;
    const std::string what = say("For ", n, " numbers");
    DeviceArray<float> device(x, "x");
    square_all(n, device.data());
    expect_no_error(what);
    expect_equal(device.values(), squares, what);
  }
  pass("the squares are right, for five sizes");

  for (const int n : {4096, 5003}) {
    DeviceArray<float> device(numbers(n), "x");
    count([&] { square_all(n, device.data()); },
          [what = say("For ", n, " numbers")](const Counts& counts) {
            expect_kernel(counts, what);
            expect_sectors(counts.sectors_per_load, 4.5, what, "load",
                           "if neighbouring threads read neighbouring numbers");
            expect_threads(counts, what, 64, "so that more than one warp is at work");
            expect(counts.shape.blocks() > 1, what, ", the launch has a single block, of ",
                   several(counts.shape.threads_of_block(), "thread"),
                   ", so that most of a GPU is idle: launch more blocks.");
            expect_blocks_of_warps(counts, what);
            expect_full_warps(counts, what);
          });
  }
  pass_counted("warps load with all of their threads, and a load takes few sectors");
}

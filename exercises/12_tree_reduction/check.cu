#include "check_cuda.hpp"

#include EXERCISE_FILE

void exercise::check() {
  for (const int n : {1, 2, 31, 255, 256, 257, 1000, 5003}) {
    const std::vector<float> x = numbers(n);
    float expected = 0;
    for (const float number : x) expected += number;
    const std::string what = say("For ", n, " numbers");
    DeviceArray<float> device(x, "x");
    DeviceArray<float> sum(std::vector<float>{0}, "sum");
    sum_all(n, device.data(), sum.data());
    expect_no_error(what);
    expect(sum.values()[0] == expected, what, ", the sum is ", sum.values()[0], " instead of ",
           expected, ".");
  }
  pass("eight sums are right");

  for (const int n : {4096, 5003}) {
    DeviceArray<float> x(numbers(n), "x");
    DeviceArray<float> sum(std::vector<float>{0}, "sum");
    count([&] { sum_all(n, x.data(), sum.data()); },
          [&](const Counts& counts) {
            const std::string what = say("For ", n, " numbers");
            expect_kernel(counts, what);
            const int blocks = (n + 255) / 256;
            const int warps = (n + 31) / 32;
            expect(counts.loads <= warps, what, ", warps load from global memory ", counts.loads,
                   " times; ", warps,
                   " times are enough if all 32 threads of a warp load a number.");
            const double sectors = counts.loads * counts.sectors_per_load;
            const int enough = (n + 7) / 8;
            expect(sectors <= enough, what, ", warps ask global memory for ", sectors,
                   " sectors of 32 bytes; ", enough,
                   " are enough if neighbouring threads load neighbouring numbers, each once.");
            expect(counts.shared_atomics == 0, what,
                   ", there are atomic functions in shared memory: the threads wait for each other "
                   "there, one after the other, while in a tree, half of them add at once.");
            // An atomicAdd of floats is counted as a load and an exchange, or more if others come
            // between.
            expect(counts.atomics <= 3 * blocks, what, ", warps call atomicAdd more than ", blocks,
                   " times; so many are enough, one for a block of 256 threads.");
            const double each = counts.shared_loads / blocks;
            expect(each <= 30, what, ", warps ask shared memory ", each,
                   " times to add 256 numbers; 25 times are enough if the threads that add are "
                   "neighbours, so that few warps take part.");
            expect(counts.bank_conflicts == 0, what, ", ", counts.bank_conflicts,
                   " cycles are lost by bank conflicts, since threads of a warp want different "
                   "words of the same bank; there are none if neighbouring threads want "
                   "neighbouring words.");
          });
  }
  pass_counted("few warps add, without bank conflicts, and with one atomicAdd a block");
}

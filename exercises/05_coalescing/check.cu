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
    DeviceArray<float> device(x);
    square_all(n, device.data());
    expect_no_error(what);
    expect_equal(device.values(), squares, what);
  }
  pass("the squares are right, for five numbers of numbers");

  for (const int n : {4096, 5003}) {
    DeviceArray<float> device(numbers(n));
    count([&] { square_all(n, device.data()); },
          [&](const Counts& counts) {
            expect(counts.sectors_per_load <= 4.5,
                   "For " + std::to_string(n) + " numbers, a warp's load takes " +
                       text(counts.sectors_per_load) +
                       " sectors of memory on average; 4 are enough if neighbouring threads read "
                       "neighbouring numbers.");
          });
  }
  pass_counted("a warp's load takes few sectors");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

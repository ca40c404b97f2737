#include <cmath>

#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

struct Size {
  int rows;
  int columns;
};

std::string name(Size size) {
  return "For " + std::to_string(size.rows) + " rows of " + std::to_string(size.columns) +
         " numbers";
}

void run() {
  for (const Size size : {Size{3, 5}, {1, 1}, {1, 31}, {5, 32}, {37, 33}, {4, 100}, {130, 7}}) {
    const std::vector<float> x = numbers(size.rows * size.columns);
    std::vector<float> expected(size.rows);
    for (std::size_t i = 0; i < x.size(); ++i) expected[i / size.columns] += x[i];
    DeviceArray<float> device(x, "x");
    DeviceArray<float> sums(size.rows, "sums");
    row_sums(size.rows, size.columns, device.data(), sums.data());
    expect_no_error(name(size));
    const std::vector<float> got = sums.values();
    expect(!std::all_of(got.begin(), got.end(), [](float sum) { return std::isnan(sum); }),
           name(size) + ", nothing has been written to sums.");
    expect_equal(got, expected, name(size));
  }
  pass("the sums of the rows of seven matrices are right");

  for (const Size size : {Size{37, 256}, {5, 100}}) {
    DeviceArray<float> x(numbers(size.rows * size.columns), "x");
    DeviceArray<float> sums(size.rows, "sums");
    count([&] { row_sums(size.rows, size.columns, x.data(), sums.data()); },
          [&](const Counts& counts) {
            expect_kernel(counts, name(size));
            expect(counts.launches == 1, name(size) + ", there are " + text(counts.launches) +
                                             " launches of kernels; a single one is enough.");
            expect(counts.shared_loads + counts.shared_stores == 0,
                   name(size) + ", warps access shared memory " +
                       text(counts.shared_loads + counts.shared_stores) +
                       " times; they need none if they pass their sums by __shfl_down_sync.");
            expect(counts.atomics == 0,
                   name(size) +
                       ", there are atomic functions; they are not needed if all numbers "
                       "of a row belong to one warp.");
            const int loads = size.rows * ((size.columns + 31) / 32);
            expect(counts.loads <= loads,
                   name(size) + ", warps load " + std::to_string(size.rows) + " rows by " +
                       text(counts.loads) + " loads; " + std::to_string(loads) +
                       " are enough if all 32 threads of a warp load numbers of one row.");
            expect(counts.sectors_per_load <= 4.5,
                   name(size) + ", a warp's load takes " + text(counts.sectors_per_load) +
                       " sectors on average; 4 are enough if neighbouring threads load "
                       "neighbouring numbers of a row.");
            expect(counts.stores <= size.rows,
                   name(size) + ", there are " + text(counts.stores) + " stores of warps; " +
                       std::to_string(size.rows) + " are enough, one for each row.");
          });
  }
  pass_counted("a warp adds up a row, without shared memory");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

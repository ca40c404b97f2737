#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

std::string name(int rows, int columns) {
  return say("For ", rows, " rows of ", columns, " numbers");
}

}  // namespace

void check() {
  const int sizes[][2] = {{3, 5}, {1, 1}, {1, 31}, {5, 32}, {37, 33}, {4, 100}, {130, 7}};
  for (const auto& [rows, columns] : sizes) {
    const std::string what = name(rows, columns);
    const std::vector<float> x = numbers(rows * columns);
    std::vector<float> expected(rows);
    for (std::size_t i = 0; i < x.size(); ++i) expected[i / columns] += x[i];
    DeviceArray<float> device(x, "x");
    DeviceArray<float> sums(rows, "sums");
    row_sums(rows, columns, device.data(), sums.data());
    expect_no_error(what);
    expect_set(sums.values(), what);
    expect_equal(sums.values(), expected, what);
  }
  pass("the sums of the rows of seven matrices are right");

  for (const auto& [rows, columns] : {std::pair(37, 256), {5, 100}}) {
    DeviceArray<float> x(numbers(rows * columns), "x");
    DeviceArray<float> sums(rows, "sums");
    count([&, rows = rows, columns = columns] { row_sums(rows, columns, x.data(), sums.data()); },
          [rows = rows, columns = columns](const Counts& counts) {
            const std::string what = name(rows, columns);
            expect_kernel(counts, what);
            expect(counts.launches == 1, what, ", there are ", counts.launches,
                   " launches of kernels; a single one is enough.");
            const double shared = counts.shared_loads + counts.shared_stores;
            expect(shared == 0, what, ", warps access shared memory ", shared,
                   " times; they need none if they pass their sums by __shfl_down_sync.");
            expect(counts.atomics == 0, what,
                   ", there are atomic functions; they are not needed if all numbers of a row "
                   "belong to one warp.");
            const int loads = rows * ((columns + 31) / 32);
            expect(counts.loads <= loads, what, ", warps load ", rows, " rows by ", counts.loads,
                   " loads; ", loads,
                   " are enough if all 32 threads of a warp load numbers of one row.");
            expect_sectors(counts.sectors_per_load, 4.5, what, "load",
                           "if neighbouring threads load neighbouring numbers of a row");
            expect(counts.stores <= rows, what, ", there are ", counts.stores, " stores of warps; ",
                   rows, " are enough, one for each row.");
          });
  }
  pass_counted("a warp adds up a row, without shared memory");
}

}  // namespace exercise

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
  return "For " + std::to_string(size.rows) + " x " + std::to_string(size.columns) + " numbers";
}

void run() {
  for (const Size size : {Size{1, 1}, {1, 40}, {33, 1}, {31, 33}, {32, 64}, {70, 45}}) {
    const auto [rows, columns] = size;
    const std::vector<float> x = numbers(rows * columns);
    std::vector<float> turned(x.size());
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        turned[column * rows + row] = x[row * columns + column];
      }
    }
    DeviceArray<float> device(x, "x");
    DeviceArray<float> y(x.size(), "y");
    transpose(rows, columns, device.data(), y.data());
    expect_no_error(name(size));
    const std::vector<float> got = y.values();
    expect(!std::all_of(got.begin(), got.end(), [](float number) { return std::isnan(number); }),
           name(size) + ", nothing has been written to y.");
    expect_equal(got, turned, name(size), rows);
  }
  pass("six matrices are transposed");

  for (const Size size : {Size{64, 96}, {72, 152}, {104, 40}}) {
    DeviceArray<float> x(numbers(size.rows * size.columns), "x");
    DeviceArray<float> y(size.rows * size.columns, "y");
    count([&] { transpose(size.rows, size.columns, x.data(), y.data()); },
          [&](const Counts& counts) {
            const double bytes = 2 * sizeof(float) * size.rows * size.columns;
            expect_kernel(counts, name(size));
            expect(counts.sectors_per_load <= 4.6,
                   name(size) + ", a warp's load of x takes " + text(counts.sectors_per_load) +
                       " sectors on average; 4 are enough if it reads neighbours.");
            expect(counts.sectors_per_store <= 4.6,
                   name(size) + ", a warp's store into y takes " + text(counts.sectors_per_store) +
                       " sectors on average; 4 are enough if it writes neighbours.");
            expect(counts.asked_bytes <= 1.1 * bytes,
                   name(size) + ", warps ask global memory for " +
                       std::to_string(static_cast<long>(counts.asked_bytes)) + " bytes; " +
                       std::to_string(static_cast<long>(bytes)) +
                       " are enough if each number is loaded once and stored once.");
            expect_threads(counts, name(size), 256, "for a tile of x");
            if (size.rows % 32 == 0 && size.columns % 32 == 0) {
              expect_full_warps(counts, name(size));
            }
          });
  }
  pass_counted("a warp's loads of x and its stores into y are coalesced");

  for (const Size size : {Size{64, 96}, {70, 45}}) {
    DeviceArray<float> x(numbers(size.rows * size.columns), "x");
    DeviceArray<float> y(size.rows * size.columns, "y");
    cuda_on_cpu::MemoryCounts before{};
    count(
        [&] {
          before = cuda_on_cpu::counted_accesses();
          transpose(size.rows, size.columns, x.data(), y.data());
        },
        [&](const Counts& counts) {
          expect(
              counts.shared_loads > 0,
              name(size) + ", no thread reads from shared memory; let the tile be turned there.");
          const cuda_on_cpu::MemoryCounts after = cuda_on_cpu::counted_accesses();
          const auto expect_no_conflicts = [&](cuda_on_cpu::AccessCounts accesses,
                                               const std::string& what) {
            expect(accesses.conflicts == 0,
                   name(size) + ", a warp's " + what + " takes " +
                       text(static_cast<double>(accesses.wavefronts) / accesses.requests) +
                       " cycles on average, since several threads want different words of "
                       "the same bank; 1 is enough if they want words of different banks.");
          };
          expect_no_conflicts(after.shared_loads - before.shared_loads, "load from shared memory");
          expect_no_conflicts(after.shared_stores - before.shared_stores,
                              "store into shared memory");
        });
  }
  pass_counted("there are no bank conflicts");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

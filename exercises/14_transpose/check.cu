#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

/// A matrix, on the GPU.
struct Matrix {
  int rows;
  int columns;
  std::string what = say("For ", rows, " x ", columns, " numbers");
  std::vector<float> numbers = exercise::numbers(rows * columns);
  DeviceArray<float> x = {numbers, "x"};
  DeviceArray<float> y = {numbers.size(), "y"};

  void turn() { transpose(rows, columns, x.data(), y.data()); }
};

void expect_no_conflicts(double cycles, const std::string& what, const std::string& access) {
  expect(cycles <= 1, what, ", a warp's ", access, " takes ", cycles,
         " cycles on average, since several threads want different words of the same bank; 1 is "
         "enough if they want words of different banks.");
}

}  // namespace

void check() {
  const int sizes[][2] = {{1, 1}, {1, 40}, {33, 1}, {31, 33}, {32, 64}, {70, 45}};
  for (const auto& [rows, columns] : sizes) {
    Matrix matrix{rows, columns};
    std::vector<float> turned;
    for (int i = 0; i < rows * columns; ++i) {
      turned.push_back(matrix.numbers[i % rows * columns + i / rows]);
    }
    matrix.turn();
    expect_no_error(matrix.what);
    expect_set(matrix.y.values(), matrix.what, rows);
    expect_equal(matrix.y.values(), turned, matrix.what, rows);
  }
  pass("six matrices are transposed");

  for (const auto& [rows, columns] : {std::pair(64, 96), {72, 152}, {104, 40}}) {
    Matrix matrix{rows, columns};
    count([&] { matrix.turn(); },
          [&](const Counts& counts) {
            const std::string& what = matrix.what;
            expect_kernel(counts, what);
            expect_sectors(counts.sectors_per_load, 4.6, what, "load of x",
                           "if it reads neighbours");
            expect_sectors(counts.sectors_per_store, 4.6, what, "store into y",
                           "if it writes neighbours");
            const double bytes = 2.0 * sizeof(float) * matrix.numbers.size();
            expect(counts.asked_bytes <= 1.1 * bytes, what, ", warps ask global memory for ",
                   counts.asked_bytes, " bytes; ", bytes,
                   " are enough if each number is loaded once and stored once.");
            expect_threads(counts, what, 256, "for a tile of x");
            if (matrix.rows % 32 == 0 && matrix.columns % 32 == 0) expect_full_warps(counts, what);
          });
  }
  pass_counted("a warp's loads of x and its stores into y are coalesced");

  for (const auto& [rows, columns] : {std::pair(64, 96), {70, 45}}) {
    Matrix matrix{rows, columns};
    count([&] { matrix.turn(); },
          [&](const Counts& counts) {
            expect(counts.shared_loads > 0, matrix.what,
                   ", no thread reads from shared memory; let the tile be turned there.");
            expect_no_conflicts(counts.cycles_per_shared_load, matrix.what,
                                "load from shared memory");
            expect_no_conflicts(counts.cycles_per_shared_store, matrix.what,
                                "store into shared memory");
          });
  }
  pass_counted("there are no bank conflicts");
}

}  // namespace exercise

#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

constexpr int samples = 50;

/// A batch of samples, on the GPU.
struct Batch {
  int rows;
  int width;
  std::string what = say("For a batch of ", rows, " rows of ", width, " numbers");
  std::vector<float> numbers = exercise::numbers(samples * width);
  std::vector<int> host_order = random_order();
  DeviceArray<float> x = {numbers, "x"};
  DeviceArray<int> order = {host_order, "order"};
  DeviceArray<float> y = {static_cast<std::size_t>(rows * width), "y"};

  /// Numbers of rows, some of them several times.
  std::vector<int> random_order() const {
    std::vector<int> result;
    for (const float number : exercise::numbers(rows, 3)) {
      result.push_back(static_cast<int>(8 * (number + 2)));
    }
    result.back() = samples - 1;
    return result;
  }

  void gather() { ::gather(rows, width, x.data(), order.data(), y.data()); }
};

}  // namespace

void check() {
  const int sizes[][2] = {{3, 5}, {1, 1}, {7, 1}, {33, 31}, {60, 10}, {5, 200}, {2, 1027}};
  for (const auto& [rows, width] : sizes) {
    Batch batch{rows, width};
    std::vector<float> expected;
    for (int i = 0; i < rows * width; ++i) {
      expected.push_back(batch.numbers[batch.host_order[i / width] * width + i % width]);
    }
    batch.gather();
    expect_no_error(batch.what);
    expect_set(batch.y.values(), batch.what, width);
    expect_equal(batch.y.values(), expected, batch.what, width);
  }
  pass("seven batches are right");

  for (const auto& [rows, width] : {std::pair(16, 200), {70, 10}}) {
    Batch batch{rows, width};
    count([&] { batch.gather(); },
          [&](const Counts& counts) {
            const std::string& what = batch.what;
            expect_kernel(counts, what);
            expect_sectors(counts.sectors_per_store, 4.5, what, "store",
                           "if neighbouring threads write neighbouring numbers of y");
            if (batch.width >= 32) {
              expect_sectors(counts.sectors_per_load, 4.6, what, "load",
                             "if neighbouring threads read neighbouring numbers of a row");
            }
            const int stores = (batch.rows * batch.width + 31) / 32;
            expect(counts.stores <= stores, what, ", there are ", counts.stores,
                   " stores of warps; ", stores,
                   " are enough if all 32 threads of a warp write a number, also where a row "
                   "ends.");
          });
  }
  pass_counted("loads and stores are coalesced, and no threads are idle");
}

}  // namespace exercise

#include <cmath>

#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

struct Size {
  int batch;
  int width;
};

constexpr int samples = 50;

std::string name(Size size) {
  return "For a batch of " + std::to_string(size.batch) + " rows of " + std::to_string(size.width) +
         " numbers";
}

/// Numbers of rows, some of them several times.
std::vector<int> order_of(Size size) {
  std::mt19937 random(3);
  std::vector<int> order(size.batch);
  for (int& sample : order) sample = static_cast<int>(random() % samples);
  order.back() = samples - 1;
  return order;
}

void run() {
  for (const Size size : {Size{3, 5}, {1, 1}, {7, 1}, {33, 31}, {60, 10}, {5, 200}, {2, 1027}}) {
    const auto [batch, width] = size;
    const std::vector<float> x = numbers(samples * width);
    const std::vector<int> order = order_of(size);
    std::vector<float> expected(batch * width);
    for (int row = 0; row < batch; ++row) {
      for (int i = 0; i < width; ++i) expected[row * width + i] = x[order[row] * width + i];
    }
    DeviceArray<float> device_x(x, "x");
    DeviceArray<int> device_order(order, "order");
    DeviceArray<float> y(expected.size(), "y");
    gather(batch, width, device_x.data(), device_order.data(), y.data());
    expect_no_error(name(size));
    const std::vector<float> got = y.values();
    expect(!std::all_of(got.begin(), got.end(), [](float number) { return std::isnan(number); }),
           name(size) + ", nothing has been written to y.");
    expect_equal(got, expected, name(size), width);
  }
  pass("seven batches are right");

  for (const Size size : {Size{16, 200}, {70, 10}}) {
    DeviceArray<float> x(numbers(samples * size.width), "x");
    DeviceArray<int> order(order_of(size), "order");
    DeviceArray<float> y(size.batch * size.width, "y");
    count([&] { gather(size.batch, size.width, x.data(), order.data(), y.data()); },
          [&](const Counts& counts) {
            expect_kernel(counts, name(size));
            expect(counts.sectors_per_store <= 4.5,
                   name(size) + ", a warp's store takes " + text(counts.sectors_per_store) +
                       " sectors on average; 4 are enough if neighbouring threads write "
                       "neighbouring numbers of y.");
            if (size.width >= 32) {
              expect(counts.sectors_per_load <= 4.6,
                     name(size) + ", a warp's load takes " + text(counts.sectors_per_load) +
                         " sectors on average; 4 are enough if neighbouring threads read "
                         "neighbouring numbers of a row.");
            }
            const int stores = (size.batch * size.width + 31) / 32;
            expect(counts.stores <= stores,
                   name(size) + ", there are " + text(counts.stores) + " stores of warps; " +
                       std::to_string(stores) +
                       " are enough if all 32 threads of a warp write a number, also where a row "
                       "ends.");
          });
  }
  pass_counted("loads and stores are coalesced, and no threads are idle");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

#include <algorithm>

#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

constexpr int rows = 64;
constexpr int columns = 256;

/// Runs one of the two, checks its results, and returns what has been counted.
Counts run(const std::string& name, void (*work)(float*, const float*)) {
  const std::vector<float> y = numbers(rows * columns, 1);
  const std::vector<float> bias = numbers(columns, 2);
  std::vector<float> expected = y;
  for (int i = 0; i < rows * columns; ++i) {
    expected[i] = std::max(0.0F, y[i] + bias[i % columns]);
  }
  DeviceArray<float> device_y(y, "y");
  DeviceArray<float> device_bias(bias, "bias");
  Counts result{};
  count([&] { work(device_y.data(), device_bias.data()); },
        [&](const Counts& counts) { result = counts; });
  expect_no_error(say("In ", name, "()"));
  expect_equal(device_y.values(), expected,
               say("In ", name, "(), which should be as it was in the start file"), columns);
  return result;
}

}  // namespace

void check() {
  const Counts unfused = run("unfused", ::unfused);
  const Counts fused = run("fused", ::fused);
  if (!is_counting()) return;

  expect_predicted("unfused_launches", ::unfused_launches, unfused.launches,
                   "each <<<...>>> that unfused() gets to is a launch.");
  expect_predicted("fused_launches", ::fused_launches, fused.launches,
                   "each <<<...>>> that fused() gets to is a launch.");
  pass("the launches");
  expect_predicted("unfused_bytes", ::unfused_bytes, unfused.asked_bytes,
                   "each thread of add_bias loads a number of y and one of the bias, and stores "
                   "one; each thread of apply_relu loads one and stores one.");
  expect_predicted("fused_bytes", ::fused_bytes, fused.asked_bytes,
                   "each thread loads a number of y and one of the bias, and stores one.");
  pass("the bytes that warps ask for");
  expect_predicted("fused_distinct_bytes", ::fused_distinct_bytes, fused.distinct_bytes,
                   "each byte of y and of the bias that is read counts once, however often it is "
                   "read, and each that is written once more.");
  pass("the bytes that must come from memory or go there");
}

}  // namespace exercise

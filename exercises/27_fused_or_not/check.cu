#include "check.hpp"

#include EXERCISE_FILE

// Names of the learner's, such as rank(), are hidden here by those of the check.
namespace exercise {
namespace {

constexpr int rows = 64;
constexpr int columns = 256;

/// Compares a constant with what has been counted, without giving it away.
void expect_predicted(const std::string& name, long predicted, double counted,
                      const std::string& thought) {
  const double difference = static_cast<double>(predicted) - counted;
  if (difference == 0) return;
  const std::string is = name + " is " + std::to_string(predicted) + ", ";
  if (predicted > 8 && 4.0 * static_cast<double>(predicted) == counted) {
    fail(is + "the number of floats: each of them has four bytes.");
  }
  fail(is + "which is too " + (difference < 0 ? "small" : "large") + ": " + thought);
}

/// Runs one of the two, checks its results, and calls `judge` with what has been counted.
void run(const std::string& name, void (*work)(float*, const float*),
         const std::function<void(const Counts&)>& judge) {
  const std::vector<float> y = numbers(rows * columns, 1);
  const std::vector<float> bias = numbers(columns, 2);
  std::vector<float> expected = y;
  for (int i = 0; i < rows * columns; ++i) {
    expected[i] = std::max(0.0F, y[i] + bias[i % columns]);
  }
  DeviceArray<float> device_y(y, "y");
  DeviceArray<float> device_bias(bias, "bias");
  count(
      [&] {
        work(device_y.data(), device_bias.data());
        expect_no_error("In " + name + "()");
        expect_equal(device_y.values(), expected,
                     "In " + name + "(), which should be as it was in the start file", columns);
      },
      judge);
}

void check_all() {
  Counts unfused{};
  Counts fused{};
  run("unfused", ::unfused, [&](const Counts& counts) { unfused = counts; });
  run("fused", ::fused, [&](const Counts& counts) { fused = counts; });
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

}  // namespace
}  // namespace exercise

void check() {
  exercise::check_all();
}

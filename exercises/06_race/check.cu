#include "check.hpp"

#include EXERCISE_FILE

// Here, names such as count() are the check's, also if the learner's file has them.
namespace exercise {
namespace {

void run() {
  for (const int n : {32, 1, 33, 256, 257, 1000, 5003}) {
    std::vector<int> values;
    for (const float number : numbers(n)) values.push_back(static_cast<int>(8 * number) + 47);
    std::vector<int> expected(64);
    for (int bin = 0; bin < 64; ++bin) expected[bin] = 10 * bin;  // what is there before
    DeviceArray<int> device_values(values);
    DeviceArray<int> device_counts(expected);
    for (const int value : values) ++expected[value];
    const std::string what = "For " + std::to_string(n) + " values";
    histogram(n, device_values.data(), device_counts.data());
    expect_no_error(what);
    const std::vector<int> counts = device_counts.values();
    for (int bin = 0; bin < 64; ++bin) {
      if (counts[bin] == expected[bin]) continue;
      fail(what + ", counts[" + std::to_string(bin) + "] is " + std::to_string(counts[bin]) +
           " instead of " + std::to_string(expected[bin]) + ", which is too " +
           (counts[bin] < expected[bin] ? "small: counts have been lost."
                                        : "large: something is counted twice."));
    }
  }
  pass("the counts are right, for seven numbers of values");
}

}  // namespace
}  // namespace exercise

void check() {
  exercise::run();
}

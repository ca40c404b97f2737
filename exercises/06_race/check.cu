#include "check_cuda.hpp"

#include EXERCISE_FILE

namespace exercise {
namespace {

std::vector<int> values_of(int n) {
  std::vector<int> values;
  for (const float number : numbers(n)) values.push_back(static_cast<int>(8 * number) + 47);
  return values;
}

}  // namespace

void check() {
  for (const int n : {32, 1, 33, 256, 257, 1000, 5003}) {
    const std::vector<int> values = values_of(n);
    std::vector<int> expected(64);
    for (int bin = 0; bin < 64; ++bin) expected[bin] = 10 * bin;  // what is there before
    DeviceArray<int> device_values(values, "values");
    DeviceArray<int> device_counts(expected, "counts");
    for (const int value : values) ++expected[value];
    const std::string what = say("For ", n, " values");
    histogram(n, device_values.data(), device_counts.data());
    expect_no_error(what);
    const std::vector<int> counts = device_counts.values();
    for (int bin = 0; bin < 64; ++bin) {
      expect(counts[bin] == expected[bin], what, ", counts[", bin, "] is ", counts[bin],
             " instead of ", expected[bin], ", which is too ",
             counts[bin] < expected[bin] ? "small: counts have been lost."
                                         : "large: something is counted twice.");
    }
  }
  pass("the counts are right, for seven sizes");

  const int n = 5003;
  DeviceArray<int> values(values_of(n), "values");
  DeviceArray<int> device_counts(std::vector<int>(64), "counts");
  count([&] { histogram(n, values.data(), device_counts.data()); },
        [](const Counts& counts) {
          const std::string what = "For 5003 values";
          expect_threads(counts, what, 5003, "one for each value");
          expect_blocks_of_warps(counts, what);
          expect(counts.shared_atomics > 0, what,
                 ", no thread counts by atomicAdd() in shared memory; let each block count its own "
                 "values there first.");
          const double enough = 64 * counts.shape.blocks();
          expect(counts.atomic_lanes <= enough, what, ", threads change `counts` ",
                 counts.atomic_lanes, " times; ", enough, " times are enough for ",
                 several(counts.shape.blocks(), "block"),
                 ", if each adds its 64 counts once, when it is done.");
        });
  pass_counted("each block counts in shared memory first");
}

}  // namespace exercise

// Floors of lines, and the table that `train --explain` prints.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/explain.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

const DeviceLimits limits = {
    .device = "this GPU", .bytes_per_second = 2e12, .operations_per_second = 50e12, .launch_seconds = 2e-6};

TEST(Floor, IsTheLargestOfThreeTimes) {
  const auto floor = [](double bytes, double operations, double launches) {
    return floor_of({bytes, operations}, launches, limits);
  };
  EXPECT_DOUBLE_EQ(floor(8e6, 1e6, 1).seconds, 4e-6);
  EXPECT_EQ(floor(8e6, 1e6, 1).bound, Bound::memory);
  EXPECT_DOUBLE_EQ(floor(8e6, 1e9, 1).seconds, 20e-6);
  EXPECT_EQ(floor(8e6, 1e9, 1).bound, Bound::compute);
  EXPECT_DOUBLE_EQ(floor(8e6, 1e6, 3).seconds, 6e-6);
  EXPECT_EQ(floor(8e6, 1e6, 3).bound, Bound::launch);
  EXPECT_DOUBLE_EQ(floor(0, 0, 0.5).seconds, 1e-6);
}

TEST(Floor, KnowsNoLimitThatIsUnknown) {
  DeviceLimits unknown = limits;
  unknown.operations_per_second = 0;
  EXPECT_EQ(floor_of({8e6, 1e15}, 1, unknown).bound, Bound::memory);
  unknown.bytes_per_second = 0;
  EXPECT_EQ(floor_of({1e15, 1e15}, 1, unknown).bound, Bound::launch);
  EXPECT_DOUBLE_EQ(floor_of({1e15, 1e15}, 1, unknown).seconds, 2e-6);
}

/// Two steps, and something that came once.
const std::vector<Timing> timings = {
    {.operation = "gather  features, labels, order -> batch, batch labels",
     .calls = 2,
     .seconds = 36e-6,
     .first_seconds = 18e-6,
     .cost = {16e6, 0}},
    {.operation = "gemm  batch, fc1/weight -> fc1/product",
     .calls = 2,
     .seconds = 2050e-6,
     .first_seconds = 2000e-6,
     .cost = {4e6, 2e9}},
    {.operation = "average_weights", .calls = 1, .seconds = 4e-6, .first_seconds = 4e-6}};

TEST(Explanation, HasFloorsAndTimes) {
  EXPECT_EQ(explanation(timings, limits, true),
            "a step, the mean of 2\n"
            "floors of this GPU: 50.0 TFLOP/s, 2.00 TB/s, 2.00 us for a launch\n"
            "\n"
            "line                            bytes     ops    floor bound by     time x floor\n"
            "gather -> batch, batch la...  8.00 MB       0  4.00 us   memory  18.0 us     4.5\n"
            "gemm -> fc1/product           2.00 MB  1.00 G  20.0 us  compute  50.0 us     2.5\n"
            "average_weights                   0 B       0  1.00 us   launch  2.00 us     2.0\n"
            "all                           10.0 MB  1.00 G  25.0 us  compute  70.0 us     2.8\n");
}

/// Of other devices: which lines there are.
TEST(Explanation, LeavesOutWhatIsUnknown) {
  DeviceLimits unlisted = limits;
  unlisted.operations_per_second = 0;
  const std::string of_another_device = explanation(timings, limits, false);
  expect_contains(of_another_device, "\nline                            bytes     ops    floor bound by\n");
  expect_contains(of_another_device, "\nall                           10.0 MB  1.00 G  25.0 us  compute\n");
  expect_contains(explanation(timings, unlisted, true), "this GPU: unknown FLOP/s, 2.00 TB/s, ");
  const std::string without_floors = explanation(timings, {}, true);
  expect_contains(without_floors, "at most is unknown: there are no floors\n");
  expect_contains(without_floors, "\ngemm -> fc1/product           2.00 MB  1.00 G  50.0 us   20.0 T   40.0 G\n");
}

/// A line's kernel, which has been counted in two steps.
std::vector<Timing> counted_timings() {
  Timing timing = timings[1];
  timing.counters.launches = 4;
  timing.counters.loads = 1e6;
  timing.counters.load_sectors = 3e6;
  timing.counters.stores = 1e6;
  timing.counters.store_sectors = 4e6;
  timing.counters.distinct_bytes = 8e6;
  timing.counters.shared_cycles = 9e6;
  return {timing, timings[2]};
}

TEST(Floor, OfWhatIsCountedKnowsCaches) {
  const KernelCounters counters = counted_timings()[0].counters;
  DeviceLimits known = limits;
  EXPECT_DOUBLE_EQ(counted_floor_of(counters, 0, known).seconds, 8e-6);
  EXPECT_EQ(counted_floor_of(counters, 0, known).bound, Bound::launch);
  known.cache_bytes_per_second = 1e13;
  EXPECT_DOUBLE_EQ(counted_floor_of(counters, 0, known).seconds, 22.4e-6);
  EXPECT_EQ(counted_floor_of(counters, 0, known).bound, Bound::cache);
  known.shared_cycles_per_second = 1e11;
  EXPECT_DOUBLE_EQ(counted_floor_of(counters, 0, known).seconds, 90e-6);
  EXPECT_EQ(counted_floor_of(counters, 0, known).bound, Bound::shared);
  known.bytes_per_second = 8e9;
  EXPECT_DOUBLE_EQ(counted_floor_of(counters, 0, known).seconds, 1e-3);
  EXPECT_EQ(counted_floor_of(counters, 0, known).bound, Bound::memory);
}

TEST(Explanation, ShowsWhatIsCounted) {
  expect_contains(explanation(counted_timings(), limits, false),
                  "\nline                            bytes     ops    floor bound by    asked sectors\n"
                  "gemm -> fc1/product           2.00 MB  1.00 G  20.0 us  compute   112 MB     3.5\n"
                  "average_weights                   0 B       0  1.00 us   launch      0 B     0.0\n");
}

TEST(Explanation, ReportsWhatIsCounted) {
  std::vector<TimingReport> reports(2);
  explain(counted_timings(), limits, reports);
  ASSERT_TRUE(reports[0].counters.has_value());
  EXPECT_EQ(reports[0].counters->load_sectors, 3e6);
  EXPECT_DOUBLE_EQ(reports[0].counted_floor_seconds.value(), 40e-6);  // of the operations
  std::vector<TimingReport> others(timings.size());
  explain(timings, limits, others);
  EXPECT_FALSE(others[0].counters.has_value());
}

TEST(Explanation, GoesIntoReports) {
  std::vector<TimingReport> reports(timings.size());
  explain(timings, limits, reports);
  EXPECT_EQ(reports[1].bytes, 4e6);
  EXPECT_EQ(reports[1].operations, 2e9);
  EXPECT_DOUBLE_EQ(reports[1].floor_seconds.value(), 40e-6);
  EXPECT_EQ(reports[1].bound, "compute");
  explain(timings, {}, reports = std::vector<TimingReport>(timings.size()));
  EXPECT_EQ(reports[1].bytes, 4e6);
  EXPECT_FALSE(reports[1].floor_seconds.has_value());
}

}  // namespace
}  // namespace stagewise

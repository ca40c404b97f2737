// Streams must never change: checkpoints, golden values and figures in the documentation rest on
// them.
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/random.hpp"

namespace stagewise {
namespace {

// The numbers come from an independent program: SplitMix64 and MT19937-64 written in Python.
TEST(Random, StreamsAreTheKnownOnes) {
  Random parameters(1, Purpose::parameters);
  EXPECT_EQ(parameters.bits(), 5207828592179806758U);
  EXPECT_EQ(parameters.bits(), 14125205675047367738U);
  EXPECT_EQ(Random(1, Purpose::shuffle).bits(), 17777485760597935566U);
  EXPECT_EQ(Random(1, Purpose::training_data).bits(), 11108863536730505811U);
  EXPECT_EQ(Random(1, Purpose::test_data).bits(), 9812556181921202451U);
  EXPECT_EQ(Random(1).bits(), 11712773851968017084U);
  EXPECT_EQ(Random(1, Purpose::shuffle, 7, 3).bits(), 5312105981846730516U);
  EXPECT_EQ(Random(0xffffffffffffffffU, Purpose::test).bits(), 11294455973523323614U);
}

TEST(Random, MappingsAreTheKnownOnes) {
  Random random(42);
  EXPECT_DOUBLE_EQ(random.uniform(), 0.5966152227193714);
  EXPECT_DOUBLE_EQ(random.uniform(-3, 5), -1.4463439519513495);
  EXPECT_DOUBLE_EQ(random.normal(), 0.1571217847119882);
  EXPECT_DOUBLE_EQ(random.normal(), -0.10138284380862546);
  EXPECT_EQ(random.below(1000), 694U);
}

TEST(Random, ShuffleIsTheKnownOne) {
  std::vector<std::uint32_t> order(10);
  std::iota(order.begin(), order.end(), 0U);
  Random random(42);
  shuffle(order, random);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{5, 9, 6, 4, 0, 8, 3, 2, 7, 1}));
}

TEST(Random, EveryArgumentNamesAnotherStream) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const Purpose purpose : {Purpose::parameters, Purpose::shuffle, Purpose::test_data}) {
      for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
        for (std::uint64_t worker = 0; worker < 4; ++worker) {
          first.insert(Random(seed, purpose, epoch, worker).bits());
        }
      }
    }
  }
  EXPECT_EQ(first.size(), 4U * 3 * 4 * 4);
}

TEST(Random, BelowReachesEveryNumberEquallyOften) {
  Random random(7);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) {
    const std::uint64_t x = random.below(7);
    ASSERT_LT(x, 7U);
    ++counts[x];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10000, 5 * std::sqrt(10000.0 * 6 / 7));
}

// With a bound of 3/4 of 2^64, a plain remainder would make the lowest third of the results twice
// as likely as the rest: half of all draws instead of a third.
TEST(Random, BelowIsUnbiasedForHugeBounds) {
  Random random(8);
  constexpr std::uint64_t quarter = std::uint64_t{1} << 62U;
  constexpr int count = 30000;
  int low = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t x = random.below(3 * quarter);
    ASSERT_LT(x, 3 * quarter);
    if (x < quarter) ++low;
  }
  EXPECT_NEAR(low, count / 3.0, 5 * std::sqrt(count * 2.0 / 9));
}

}  // namespace
}  // namespace stagewise

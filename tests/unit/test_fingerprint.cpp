#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "data/dataset.hpp"
#include "io/data_sets/load.hpp"
#include "tensor/digest.hpp"

namespace stagewise {
namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;

Key key_of(const Dataset& dataset) {
  const Fingerprint fingerprint = fingerprint_of(dataset, false);
  return {fingerprint.values, fingerprint.labels};
}

TEST(Fingerprint, ChangesWithEveryValueAndEveryLabel) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5};
  std::set<Key> keys = {key_of({{2}, 3, values, {0, 1, 2}})};
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double> changed = values;
    changed[i] += 1e-12;
    EXPECT_TRUE(keys.insert(key_of({{2}, 3, changed, {0, 1, 2}})).second) << i;
  }
  for (const std::vector<std::int32_t>& labels :
       std::vector<std::vector<std::int32_t>>{{1, 1, 2}, {0, 2, 1}, {0, 1, 1}}) {
    EXPECT_TRUE(keys.insert(key_of({{2}, 3, values, labels})).second);
  }
  const std::vector<double> swapped = {1, 0, 2, 3, 4, 5};
  EXPECT_TRUE(keys.insert(key_of({{2}, 3, swapped, {0, 1, 2}})).second);
  EXPECT_EQ(key_of({{2}, 3, values, {0, 1, 2}}), key_of({{2}, 9, values, {0, 1, 2}}))
      << "how many classes there could be is no matter of the samples";
}

TEST(Fingerprint, ChangesWithEveryPixel) {
  std::set<Key> keys;
  for (std::size_t size : {1, 7, 8, 9, 16, 17}) {
    const std::vector<std::uint8_t> pixels(size, 0);
    const Shape shape = {1, static_cast<Index>(size), 1};
    EXPECT_TRUE(keys.insert(key_of({shape, 1, pixels, {0}})).second) << size;
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<std::uint8_t> changed = pixels;
      changed[i] = 1;
      EXPECT_TRUE(keys.insert(key_of({shape, 1, changed, {0}})).second) << size << ", " << i;
    }
  }
}

TEST(Fingerprint, SaysHowFeaturesArePrepared) {
  const Dataset images({1, 1, 1}, 1, std::vector<std::uint8_t>{1}, {0});
  const Dataset numbers({1}, 1, std::vector<double>{1}, {0});
  EXPECT_EQ(fingerprint_of(images, false).preparation, "divided by 255");
  EXPECT_EQ(fingerprint_of(numbers, false).preparation, "used as they are");
  EXPECT_EQ(fingerprint_of(numbers, true).preparation, "standardized");
}

TEST(Fingerprint, IsOfWhatIsLeftForTraining) {
  const DatasetOptions all = {.name = "digits", .train_limit = 100};
  const Fingerprint whole = *load_for_training(all).fingerprint;
  DatasetOptions part = all;
  part.validation = 30;
  const Fingerprint rest = *load_for_training(part).fingerprint;
  EXPECT_EQ(whole.samples, 100);
  EXPECT_EQ(rest.samples, 70);
  EXPECT_NE(rest.values, whole.values);
  part.test_limit = 10;
  EXPECT_EQ(load_for_training(part).fingerprint->values, rest.values);
}

// A checkpoint written on one machine is compared with data read on another.
TEST(Fingerprint, IsTheSameEverywhere) {
  Digest digest;
  digest.add_all(std::string("nine byte"));
  EXPECT_EQ(digest.value(), 0x1895d6310b6bd09cU);
  const Dataset numbers({1}, 2, std::vector<double>{0.1, -3}, {0, 1});
  EXPECT_EQ(fingerprint_of(numbers, true).values, 0x1992891e1cc0626cU);
  EXPECT_EQ(fingerprint_of(numbers, true).labels, 0xb7fa7fb98a55a7ffU);
}

}  // namespace
}  // namespace stagewise

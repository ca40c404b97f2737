#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "data/dataset.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

/// Three images of 1 x 2 pixels.
Dataset images() { return {{1, 2, 1}, 4, std::vector<std::uint8_t>{0, 255, 51, 102, 1, 2}, {3, 0, 1}}; }

/// Three samples of two features.
Dataset features() { return {{2}, 2, std::vector<double>{0.1, -2, 3e10, 4, 5, 6.5}, {1, 0, 1}}; }

template <typename T>
class Gather : public testing::Test {};
TYPED_TEST_SUITE(Gather, Precisions, PrecisionNames);

TYPED_TEST(Gather, PixelsAreDividedBy255InThePrecisionAskedFor) {
  const std::array<std::uint32_t, 3> samples{2, 0, 2};
  std::array<TypeParam, 7> got{};
  got.back() = -1;  // must stay
  images().gather<TypeParam>(samples, got.data());
  const TypeParam unit = 255;
  EXPECT_EQ(got, (std::array<TypeParam, 7>{1 / unit, 2 / unit, 0, 1, 1 / unit, 2 / unit, -1}));
}

TYPED_TEST(Gather, FeaturesAreTakenAsTheyAre) {
  const std::array<std::uint32_t, 2> samples{1, 0};
  std::array<TypeParam, 5> got{};
  got.back() = -1;
  features().gather<TypeParam>(samples, got.data());
  EXPECT_EQ(got, (std::array<TypeParam, 5>{static_cast<TypeParam>(3e10), 4, static_cast<TypeParam>(0.1), -2, -1}));
}

TEST(Dataset, LabelsAreGatheredInTheOrderAskedFor) {
  const std::array<std::uint32_t, 4> samples{1, 1, 2, 0};
  std::array<std::int32_t, 5> got{9, 9, 9, 9, 9};
  images().gather_labels(samples, got.data());
  EXPECT_EQ(got, (std::array<std::int32_t, 5>{0, 0, 1, 3, 9}));
}

TEST(Dataset, SliceCopiesConsecutiveSamples) {
  const Dataset part = images().slice(1, 2);
  EXPECT_EQ(part.size(), 2);
  EXPECT_EQ(part.sample_shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(part.classes(), 4);
  EXPECT_EQ(part.labels(), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(*part.pixels(), (std::vector<std::uint8_t>{51, 102, 1, 2}));
  EXPECT_EQ(images().slice(3, 0).size(), 0);

  std::array<double, 2> last{};
  features().slice(2, 1).gather<double>(std::array<std::uint32_t, 1>{0}, last.data());
  EXPECT_EQ(last, (std::array<double, 2>{5, 6.5}));
}

TEST(Dataset, RefusesSlicesOfWhatIsNotThere) {
  expect_contains(sentence_of([] { images().slice(2, 2); }), "has 3");
  const Index most = std::numeric_limits<Index>::max() - 1;
  for (const auto& [first, count] : {std::pair<Index, Index>{-1, 2}, {4, 0}, {1, -1}, {1, most}}) {
    EXPECT_THROW(images().slice(first, count), Error) << first;
  }
}

TEST(Dataset, RefusesSizesAndLabelsThatDoNotFit) {
  using Values = std::vector<double>;
  const auto refusal = [](const Shape& shape, const Values& values, const std::vector<std::int32_t>& labels) {
    return sentence_of([&] { Dataset(shape, 2, values, labels); });
  };
  expect_contains(refusal({2}, {1, 2, 3}, {0, 1}), "2 labels");
  expect_contains(refusal({2}, {1, 2, 3}, {0, 1}), "3 feature values");
  expect_contains(refusal({1}, {1, 2, 3}, {0, 1, 2}), "sample 2 is 2");
  EXPECT_NE(refusal({1}, {1}, {-1}), "");
  EXPECT_THROW(Dataset({1, 1, 1}, 2, std::vector<std::uint8_t>{1, 2}, {0}), Error);
}

}  // namespace
}  // namespace stagewise

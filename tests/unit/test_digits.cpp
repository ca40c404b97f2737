#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/generators.hpp"

namespace stagewise {
namespace {

using Pixels = std::vector<std::uint8_t>;

constexpr std::size_t side = 28;
constexpr std::size_t image_pixels = side * side;

std::vector<Pixels> images_of(const Dataset& set) {
  std::vector<Pixels> images;
  for (auto at = set.pixels()->begin(); at != set.pixels()->end(); at += image_pixels) {
    images.emplace_back(at, at + image_pixels);
  }
  return images;
}

/// Fowler, Noll and Vo's 64-bit hash (1a) of pixels and labels.
std::uint64_t checksum(const Dataset& set) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3U; };
  for (const std::uint8_t pixel : *set.pixels()) add(pixel);
  for (const std::int32_t label : set.labels()) add(static_cast<std::uint8_t>(label));
  return hash;
}

// If this fails, the pictures have changed, and with them every figure that was measured on them.
TEST(Digits, AreTheKnownOnes) {
  EXPECT_EQ(checksum(make_digits(500, 1, Purpose::training_data)), 13443978205340563747U);
  EXPECT_EQ(checksum(make_digits(500, 1, Purpose::test_data)), 2499863590821311923U);
}

TEST(Digits, NoImageComesTwiceAndTestImagesAreNotTrainingImages) {
  std::set<std::string> all;
  for (const Dataset& set :
       {make_digits(1000, 1, Purpose::training_data), make_digits(1000, 1, Purpose::test_data),
        make_digits(1000, 2, Purpose::training_data)}) {
    for (const Pixels& image : images_of(set)) all.emplace(image.begin(), image.end());
  }
  EXPECT_EQ(all.size(), 3000U);
}

TEST(Digits, EveryClassIsAboutEquallyFrequent) {
  std::array<int, 10> counts{};
  const Dataset set = make_digits(5000, 5, Purpose::training_data);
  for (const std::int32_t label : set.labels()) {
    ++counts.at(static_cast<std::size_t>(label));
  }
  for (const int count : counts) EXPECT_NEAR(count, 500, 106);  // five standard errors
}

TEST(Digits, AreBrightStrokesInsideADarkImage) {
  for (const Pixels& image : images_of(make_digits(1000, 1, Purpose::test_data))) {
    const auto bright = std::count_if(image.begin(), image.end(), [](int p) { return p > 100; });
    EXPECT_GT(bright, 12);
    EXPECT_LT(bright, 28 * 28 / 3);
    int border = 0;
    for (std::size_t i = 0; i < side; ++i) {
      for (const std::size_t at : {i, (side - 1) * side + i, side * i, side * i + side - 1})
        border += image[at] > 100 ? 1 : 0;
    }
    EXPECT_LT(border, 12);  // a stroke may touch the border, but no digit lies outside
  }
}

}  // namespace
}  // namespace stagewise

/// @file
/// Data sets that are made: points around a mean a class, a step, digits.

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "data/generators.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

TEST(Gaussian, HasItsShapeAndEqualClasses) {
  const Dataset set = make_gaussian({.features = 7, .classes = 3}, 30, 1, Purpose::training_data);
  EXPECT_EQ(set.sample_shape(), Shape{7});
  EXPECT_EQ(set.classes(), 3);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(set.labels()[i], static_cast<int>(i % 3));
}

TEST(Gaussian, MeansAndDeviationsAreThoseAskedFor) {
  const GaussianOptions options = {.features = 2, .classes = 3, .spacing = 2.5, .deviation = 0.5};
  constexpr int count = 30000;
  const Dataset set = make_gaussian(options, count, 1, Purpose::training_data);
  std::array<std::array<double, 2>, 3> sum{};
  std::array<std::array<double, 2>, 3> squares{};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const auto label = static_cast<std::size_t>(set.labels()[i]);
      const double x = (*set.values())[2 * i + j] - 2.5 * set.labels()[i];
      sum.at(label).at(j) += x;
      squares.at(label).at(j) += x * x;
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(sum.at(c).at(j) / 10000, 0, 0.02);  // four standard errors
      EXPECT_NEAR(std::sqrt(squares.at(c).at(j) / 10000), 0.5, 0.015);
    }
  }
}

TEST(Gaussian, ASampleDependsOnSeedPurposeAndNumberOnlyAsThatOfAStepDoes) {
  const auto gaussian = [](Index count, std::uint64_t seed, Purpose purpose) {
    return *make_gaussian({}, count, seed, purpose).slice(0, 5).values();
  };
  const auto step = [](Index count, std::uint64_t seed, Purpose purpose) {
    return *make_step(count, seed, purpose).slice(0, 5).values();
  };
  const auto expect = [](const auto& values) {
    const std::vector<double> first = values(5, 1, Purpose::training_data);
    EXPECT_EQ(first, values(50, 1, Purpose::training_data));
    EXPECT_NE(first, values(5, 2, Purpose::training_data));
    EXPECT_NE(first, values(5, 1, Purpose::test_data));
  };
  expect(gaussian);
  expect(step);
}

TEST(Gaussian, DeviationZeroPutsEverySampleOnItsMean) {
  const GaussianOptions options = {.features = 2, .spacing = -3, .deviation = 0};
  EXPECT_EQ(*make_gaussian(options, 2, 1, Purpose::test).values(), (std::vector<double>{0, 0, -3, -3}));
}

TEST(Gaussian, TestSetHasAFifth) {
  GaussianOptions options;
  EXPECT_EQ(options.sizes().train, 1000);
  EXPECT_EQ(options.sizes().test, 200);
  options.samples = 1;
  EXPECT_EQ(options.sizes().test, 1);
}

TEST(Gaussian, OptionsOutOfRangeAreNamed) {
  const double nan = std::nan("");
  const std::vector<std::pair<GaussianOptions, std::string>> cases = {
      {{}, ""},
      {{.features = 0}, "--features is 0, but must be at least 1"},
      {{.classes = 1}, "--classes is 1, but must be at least 2"},
      {{.classes = 70000}, "--classes is 70000, but must be at most 65536"},
      {{.samples = 0}, "--samples is 0, but must be at least 1"},
      {{.spacing = nan}, "--spacing must be a finite number"},
      {{.deviation = nan}, "--deviation must be a finite number of at least 0"},
      {{.deviation = -1}, "--deviation must be a finite number of at least 0"},
      {{.features = Index{1} << 62U},
       "--samples 1000 of --features 4611686018427387904 are more than 8,589,934,592 numbers"}};
  for (const auto& one : cases) {
    EXPECT_EQ(sentence_of([&] { check(one.first); }), one.second);
  }
  EXPECT_THROW(make_gaussian(cases[1].first, 5, 1, Purpose::test), UsageError);
}

TEST(Step, ClassIsOneFromOneHalfOn) {
  const Dataset set = make_step(2000, 1, Purpose::training_data);
  EXPECT_EQ(set.sample_shape(), Shape{1});
  EXPECT_EQ(set.classes(), 2);
  Index ones = 0;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    double x = -1;
    set.gather<double>(std::array<std::uint32_t, 1>{i}, &x);
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    ASSERT_EQ(set.labels()[i], x >= 0.5 ? 1 : 0);
    ones += set.labels()[i];
  }
  EXPECT_NEAR(static_cast<double>(ones), 1000, 112);  // five standard errors
}

// ----------------------------------------------------------------------------------------- digits

using Pixels = std::vector<std::uint8_t>;

constexpr std::size_t image_pixels = 28 * 28;

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
  for (const Dataset& set : {make_digits(1000, 1, Purpose::training_data), make_digits(1000, 1, Purpose::test_data),
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

}  // namespace
}  // namespace stagewise

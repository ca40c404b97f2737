#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "data/generators.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

TEST(Gaussian, HasItsShapeAndEqualClasses) {
  GaussianOptions options;
  options.features = 7;
  options.classes = 3;
  const Dataset set = make_gaussian(options, 30, 1, Purpose::training_data);
  EXPECT_EQ(set.sample_shape(), Shape{7});
  EXPECT_EQ(set.classes(), 3);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(set.labels()[i], static_cast<int>(i % 3));
}

TEST(Gaussian, MeansAndDeviationsAreThoseAskedFor) {
  GaussianOptions options;
  options.features = 2;
  options.classes = 3;
  options.spacing = 2.5;
  options.deviation = 0.5;
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
  GaussianOptions options;
  options.features = 2;
  options.spacing = -3;
  options.deviation = 0;
  EXPECT_EQ(*make_gaussian(options, 2, 1, Purpose::test).values(),
            (std::vector<double>{0, 0, -3, -3}));
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

}  // namespace
}  // namespace stagewise

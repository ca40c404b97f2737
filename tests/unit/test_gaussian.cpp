#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/generators.hpp"
#include "tensor/error.hpp"

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

TEST(Gaussian, ASampleDependsOnSeedPurposeAndNumberOnly) {
  const GaussianOptions options;
  const auto values = [&](Index count, std::uint64_t seed, Purpose purpose) {
    return *make_gaussian(options, count, seed, purpose).slice(0, 5).values();
  };
  const std::vector<double> first = values(5, 1, Purpose::training_data);
  EXPECT_EQ(first, values(50, 1, Purpose::training_data));
  EXPECT_NE(first, values(5, 2, Purpose::training_data));
  EXPECT_NE(first, values(5, 1, Purpose::test_data));
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
  const auto said = [](auto change) -> std::string {
    GaussianOptions options;
    change(options);
    try {
      check(options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said([](auto& o) { o.features = 0; }), "--features is 0, but must be at least 1");
  EXPECT_EQ(said([](auto& o) { o.classes = 1; }), "--classes is 1, but must be at least 2");
  EXPECT_EQ(said([](auto& o) { o.classes = 70000; }),
            "--classes is 70000, but must be at most 65536");
  EXPECT_EQ(said([](auto& o) { o.samples = 0; }), "--samples is 0, but must be at least 1");
  EXPECT_EQ(said([](auto& o) { o.spacing = std::nan(""); }), "--spacing must be a finite number");
  EXPECT_EQ(said([](auto& o) { o.deviation = std::nan(""); }),
            "--deviation must be a finite number of at least 0");
  EXPECT_EQ(said([](auto& o) { o.deviation = -1; }),
            "--deviation must be a finite number of at least 0");
  EXPECT_EQ(said([](auto& o) { o.features = Index{1} << 62U; }),
            "--samples 1000 of --features 4611686018427387904 are more than 8,589,934,592 numbers");
  EXPECT_EQ(said([](auto&) {}), "");
  GaussianOptions wrong;
  wrong.features = 0;
  EXPECT_THROW(make_gaussian(wrong, 5, 1, Purpose::test), UsageError);
}

/// A sigmoid neuron on the step function with the programs' default options: batches of 100, five
/// epochs, learning rate 0.1, squared error. What the default sizes are for.
double accuracy_of_a_neuron(const Dataset& train, const Dataset& test, std::uint64_t seed) {
  Random random(seed, Purpose::test);
  double w = random.uniform(-1.73, 1.73);
  double b = 0;
  std::vector<std::uint32_t> order(train.labels().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  for (int epoch = 0; epoch < 5; ++epoch) {
    shuffle(order, random);
    for (std::size_t first = 0; first < order.size(); first += 100) {
      double gradient_w = 0;
      double gradient_b = 0;
      for (std::size_t i = first; i < first + 100; ++i) {
        const double x = (*train.values())[order[i]];
        const double y = 1 / (1 + std::exp(-(w * x + b)));
        const double delta = 2 * (y - train.labels()[order[i]]) * y * (1 - y);
        gradient_w += delta * x / 100;
        gradient_b += delta / 100;
      }
      w -= 0.1 * gradient_w;
      b -= 0.1 * gradient_b;
    }
  }
  int correct = 0;
  for (std::size_t i = 0; i < test.labels().size(); ++i) {
    const bool answer = w * (*test.values())[i] + b >= 0;
    correct += answer == (test.labels()[i] == 1) ? 1 : 0;
  }
  return correct / static_cast<double>(test.size());
}

TEST(Step, DefaultSizesAreEnoughForANeuronToFindIt) {
  const Dataset train = make_step(step_sizes.train, 1, Purpose::training_data);
  const Dataset test = make_step(step_sizes.test, 1, Purpose::test_data);
  double worst = 1;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    worst = std::min(worst, accuracy_of_a_neuron(train, test, seed));
  }
  EXPECT_GE(worst, 0.97);
  // And no more than it takes: with a tenth, some neurons are still on their way.
  EXPECT_LT(accuracy_of_a_neuron(train.slice(0, 10000), test, 1), 0.99);
}

}  // namespace
}  // namespace stagewise

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support.hpp"
#include "verify/compare.hpp"

namespace stagewise {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

ParameterValues parameter(std::vector<double> values, const std::string& name = "fc1/bias") {
  const auto n = static_cast<Index>(values.size());
  return {.name = name, .shape = Shape{n}, .values = std::move(values)};
}

Difference compare(const std::vector<double>& a, const std::vector<double>& b) {
  const auto differences = compare_parameters({parameter(a)}, {parameter(b)});
  EXPECT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences.front().name, "fc1/bias");
  return differences.front();
}

TEST(Compare, EqualValuesDifferByZero) {
  for (const Difference& difference : {compare({1, -2, 3e-300}, {1, -2, 3e-300}), compare({0, -0.0}, {-0.0, 0})}) {
    EXPECT_EQ(difference.max_norm, 0);
    EXPECT_EQ(difference.l2_norm, 0);
    EXPECT_TRUE(difference.within(0));
    EXPECT_FALSE(difference.within(nan));
  }
}

TEST(Compare, ZeroAgainstNonzeroDiffersByOne) {
  for (const double value : {1.0, -1e-3, 1e-200, 1e200}) {
    const Difference difference = compare({0, 0}, {0, value});
    EXPECT_EQ(difference.max_norm, 1);
    EXPECT_EQ(difference.l2_norm, 1);
    EXPECT_EQ(difference.worst, 1);
    EXPECT_FALSE(difference.within(0.999));
  }
}

TEST(Compare, NaNNeverPasses) {
  const std::vector<double> good = {1, 2, 3};
  const std::vector<double> bad = {1, nan, 3};
  const std::vector<double> far = {100, 2, 3};  // a NaN behind a large difference is not missed
  for (const auto& [a, b] : {std::pair{good, bad}, std::pair{bad, good}, std::pair{bad, bad}, std::pair{far, bad}}) {
    const Difference difference = compare(a, b);
    EXPECT_FALSE(difference.finite);
    EXPECT_FALSE(difference.within(infinity));
    EXPECT_FALSE(difference.within(nan));
    EXPECT_TRUE(std::isnan(difference.max_norm));
    EXPECT_TRUE(std::isnan(difference.l2_norm));
    EXPECT_EQ(difference.worst, 1);
    EXPECT_TRUE(std::isnan(largest_difference({difference, compare(good, good)})));
  }
}

TEST(Compare, InfinityNeverPassesEvenAgainstItself) {
  for (const double value : {infinity, -infinity}) {
    EXPECT_FALSE(compare({1, value}, {1, value}).within(infinity));
    EXPECT_FALSE(compare({1, value}, {1, 1}).within(infinity));
  }
}

TEST(Compare, FiniteValuesTooFarApartForADoubleDoNotPass) {
  const double huge = std::numeric_limits<double>::max();
  EXPECT_FALSE(compare({huge}, {-huge}).within(1));
}

TEST(Compare, NormsAreRelativeToTheLargerSet) {
  // Differences: 0, 1, -3, 0; largest values 8 and 5; squares 1 + 16 + 64 = 81 and 1 + 9 + 25 + 0.
  const Difference difference = compare({1, 4, 8, 0}, {1, 3, 5, 0});
  EXPECT_DOUBLE_EQ(difference.max_norm, 3.0 / 8);
  EXPECT_DOUBLE_EQ(difference.l2_norm, std::sqrt(10.0 / 81));
  EXPECT_EQ(difference.worst, 2);
  EXPECT_EQ(difference.a, 8);
  EXPECT_EQ(difference.b, 5);
}

TEST(Compare, IsSymmetric) {
  const auto a = random_values<double>(101, 1);
  const auto b = random_values<double>(101, 2, -3, 1);
  const Difference forth = compare(a, b);
  const Difference back = compare(b, a);
  EXPECT_EQ(forth.max_norm, back.max_norm);
  EXPECT_EQ(forth.l2_norm, back.l2_norm);
  EXPECT_EQ(forth.worst, back.worst);
  EXPECT_EQ(forth.a, back.b);
}

TEST(Compare, DifferenceExactlyAtTheBoundPasses) {
  const Difference difference = compare({1, 0.5}, {0.75, 0.5});
  EXPECT_EQ(difference.max_norm, 0.25);
  EXPECT_TRUE(difference.within(0.25));
  EXPECT_FALSE(difference.within(std::nextafter(0.25, 0)));
}

TEST(Compare, ParametersAreMatchedByNameInTheOrderOfTheFirstSet) {
  const auto differences =
      compare_parameters({parameter({1, 2}, "x"), parameter({3}, "y")}, {parameter({6}, "y"), parameter({1, 2}, "x")});
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].name, "x");
  EXPECT_EQ(differences[0].max_norm, 0);
  EXPECT_EQ(differences[1].name, "y");
  EXPECT_EQ(differences[1].max_norm, 0.5);
  EXPECT_EQ(largest_difference(differences), 0.5);
}

TEST(Compare, OtherShapeIsRefusedAlsoWithAsManyElements) {
  ParameterValues a{.name = "x", .shape = Shape{2, 3}, .values = std::vector<double>(6, 1.0)};
  ParameterValues b{.name = "x", .shape = Shape{3, 2}, .values = std::vector<double>(6, 1.0)};
  EXPECT_EQ(sentence_of([&] { compare_parameters({a}, {b}); }),
            "the parameter 'x' has shape [2, 3] in the first set and [3, 2] in the second set");
}

TEST(Compare, PlaceOfAnElement) {
  EXPECT_EQ(place_of(0, Shape{}), "[]");
  EXPECT_EQ(place_of(6, Shape{7}), "[6]");
  EXPECT_EQ(place_of(3 * 15 + 14, Shape{4, 15}), "[3, 14]");
  EXPECT_EQ(place_of(((1 * 3 + 2) * 4 + 3) * 5 + 4, Shape{2, 3, 4, 5}), "[1, 2, 3, 4]");
}

}  // namespace
}  // namespace stagewise

/// @file
/// What is said about the places of wrong elements.

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "verify/differences.hpp"

namespace stagewise {
namespace {

/// What is said where the elements that `is_wrong(row, column)` names are 0 instead of 1.
std::string described(const ResultLayout& layout, const std::function<bool(Index, Index)>& is_wrong) {
  std::vector<float> found(static_cast<std::size_t>(layout.rows * layout.columns), 1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto place = static_cast<Index>(i);
    if (is_wrong(place / layout.columns, place % layout.columns)) found[i] = 0;
  }
  const std::vector<double> expected(found.size(), 1);
  return describe_differences(std::span<const float>(found), std::span<const double>(expected), layout,
                              [](double a, double b) { return is_near(a, b, 0.5); });
}

TEST(Differences, NothingIsSaidWhereNothingIsWrong) {
  EXPECT_EQ(described({2, 3}, [](Index, Index) { return false; }), "");
  EXPECT_EQ(described({0, 3}, [](Index, Index) { return true; }), "");
}

TEST(Differences, CountsAndNamesTheWorst) {
  EXPECT_EQ(described({1, 1}, [](Index, Index) { return true; }), "it is 0 instead of 1");
  EXPECT_EQ(described({50, 40}, [](Index row, Index column) { return row == 3 && column == 5; }),
            "1 of 2,000 elements: [3, 5] is 0 instead of 1");
  EXPECT_EQ(described({50, 40}, [](Index, Index) { return true; }),
            "all 2,000 elements; the worst, [0, 0], is 0 instead of 1");

  Differences differences({1, 9});
  differences.add(2, 1, 2);
  differences.add(3, 5, 2);
  differences.add(4, 2.5, 2);
  EXPECT_EQ(differences.describe(), "3 of 9 elements, all in elements 2 to 4; the worst, [3], is 5 instead of 2");
  differences.add(5, std::numeric_limits<double>::quiet_NaN(), 2);
  differences.add(6, 1e30, 2);
  EXPECT_NE(differences.describe().find("[5], is nan instead of 2"), std::string::npos) << differences.describe();
}

TEST(Differences, NamesRowsAndColumns) {
  EXPECT_EQ(described({71, 53}, [](Index, Index column) { return column >= 48; }),
            "355 of 3,763 elements, all in columns 48 to 52; the worst, [0, 48], is 0 instead of 1");
  EXPECT_TRUE(described({71, 53}, [](Index row, Index) {
                return row == 70;
              }).starts_with("53 of 3,763 elements, all in row 70; "));
  EXPECT_TRUE(described({71, 53}, [](Index row, Index column) {
                return row / 2 == 4 && column < 7;
              }).starts_with("14 of 3,763 elements, all in rows 8 and 9 and columns 0 to 6; "));
}

TEST(Differences, KnowsTiles) {
  EXPECT_TRUE(described({71, 53, 16}, [](Index, Index column) { return column >= 48; })
                  .starts_with("355 of 3,763 elements, all in columns 48 to 52 (the last, "
                               "incomplete tile of 16); "));
  EXPECT_TRUE(described({64, 64, 16}, [](Index row, Index) {
                return row / 16 == 2;
              }).starts_with("1,024 of 4,096 elements, all in rows 32 to 47 (a tile of 16); "));
  EXPECT_TRUE(described({71, 53, 16}, [](Index, Index column) {
                return column >= 47;
              }).starts_with("426 of 3,763 elements, all in columns 47 to 52; "));
  EXPECT_TRUE(described({64, 64, 16}, [](Index row, Index) { return row % 16 == 15; }).find("all in rows 15 to 63") !=
              std::string::npos);
  EXPECT_NE(described({71, 53, 8}, [](Index row, Index column) { return row % 8 < 7 && column % 8 < 5; })
                .find(", all in rows 0 to 6 and columns 0 to 4 of their tiles of 8; "),
            std::string::npos);
}

TEST(Differences, NoticesTheOneThreadThatIsRight) {
  EXPECT_NE(described({71, 53, 8}, [](Index row, Index column) { return row % 8 < 7 || column % 8 < 7; })
                .find(", scattered, but never at [7, 7] of a tile of 8; "),
            std::string::npos);
}

TEST(Differences, SaysHowFarTheOthersAreScattered) {
  EXPECT_NE(described({30, 30, 4}, [](Index row, Index column) { return row % 29 == column % 29; })
                .find("32 of 900 elements, scattered; "),
            std::string::npos);
  EXPECT_NE(described({31, 20}, [](Index row, Index column) { return row % 2 == 0 && column % 19 == 0; })
                .find("32 of 620 elements, scattered over 16 of 31 rows and 2 of 20 columns; "),
            std::string::npos);
  EXPECT_NE(described({1, 9}, [](Index, Index column) { return column % 2 == 0; }).find("5 of 9 elements, scattered; "),
            std::string::npos);
}

TEST(Differences, WhatIsNoNumberIsNeverNear) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(is_near(1, 1.5, 0.5));
  EXPECT_FALSE(is_near(1, 1.5, 0.49));
  EXPECT_FALSE(is_near(nan, nan, infinity));
  EXPECT_FALSE(is_near(infinity, infinity, 1));
}

}  // namespace
}  // namespace stagewise

#include <gtest/gtest.h>

#include "idle_filter.hpp"

namespace stagewise {
namespace {

TEST(IdleFilter, IsThePartThatSelectsNoTest) {
  EXPECT_EQ(idle_part("*"), std::nullopt);
  EXPECT_EQ(idle_part("IdleFilter.*:*SelectsNoTest"), std::nullopt);
  EXPECT_EQ(idle_part("IdleFilter.*:Renamed.*"), "Renamed.*");
  EXPECT_EQ(idle_part("Renamed.*"), "Renamed.*");
  EXPECT_EQ(idle_part("IdleFilter"), "IdleFilter");
  EXPECT_EQ(idle_part(""), "");
}

TEST(IdleFilter, HeedsWhatIsExcluded) {
  EXPECT_EQ(idle_part("-Renamed.*"), std::nullopt);
  EXPECT_EQ(idle_part("IdleFilter.*-*.HeedsWhatIsExcluded"), std::nullopt);
  EXPECT_EQ(idle_part("*.HeedsWhatIsExcluded-IdleFilter.*"), "*.HeedsWhatIsExcluded");
  EXPECT_EQ(idle_part("*-*"), "*");
}

}  // namespace
}  // namespace stagewise

#include <gtest/gtest.h>

#include "io/csv_line.hpp"

namespace stagewise {
namespace {

TEST(CsvLine, QuotesWhatWouldEndACell) {
  EXPECT_EQ(csv_line({"a", "", "1.5"}), "a,,1.5\n");
  EXPECT_EQ(csv_line({"", "x y"}), ",x y\n");
  EXPECT_EQ(csv_line({"a,b", "say \"so\"", "two\nlines"}),
            "\"a,b\",\"say \"\"so\"\"\",\"two\nlines\"\n");
}

}  // namespace
}  // namespace stagewise

// How the results of ladders are judged and shown: those of a GPU, too, which need not be there.

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "app/ladder_command.hpp"
#include "app/ladder_table.hpp"
#include "cli/command_line.hpp"
#include "verify/values.hpp"

namespace stagewise {
namespace {

/// A row as a GPU fills it.
LadderRow row_of(const std::string& name, double seconds) {
  return {.name = name,
          .file = "a/file.cu",
          .idea = "an idea",
          .difference = 1.23e-7,
          .worst = 1e-6,
          .bound = 1e-5,
          .reference_difference = 1.31e-7,
          .seconds = seconds,
          .operations = 1.2544e9,
          .bytes = 8.86e6};
}

/// The longest names that there are, and figures of three digits everywhere.
LadderReport report_of_gpu() {
  LadderTable table{"rung", "cuBLAS", {}, {row_of("cuBLAS", 41.5e-6)}};
  table.rows = {row_of("dot-non-divergent", 0.123), row_of("stream-k", 32.1e-6)};
  table.rows.back().picked = true;
  return {.header = {{"gemm", "C [800, 1000] = A B, A [800, 784], B [784, 1000], float"}},
          .tables = {table}};
}

std::string print(const LadderReport& report, bool cuda_on_cpu = false) {
  Stage stage;
  stage.program = "stage";
  stage.device = [] { return std::string("GPU"); };
  stage.cuda_on_cpu = cuda_on_cpu;
  std::ostringstream out;
  print_ladder(out, stage, report);
  for (const std::string& line : lines_of(out.str())) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
  }
  return out.str();
}

TEST(LadderTable, ShowsRatesAndSharesOfTheReference) {
  const std::string text = print(report_of_gpu());
  EXPECT_NE(
      text.find("\nrung               difference  to cuBLAS     time          rate  of cuBLAS\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\ndot-non-divergent     1.2e-07    1.3e-07   123 ms  10.2 GFLOP/s        0 "
                      "%\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nstream-k *            1.2e-07    1.3e-07  32.1 us  39.1 TFLOP/s      129 "
                      "%\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\ncuBLAS                1.2e-07    1.3e-07  41.5 us  30.2 TFLOP/s      100 "
                      "%\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n* "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\n3 of 3 verified\n")) << text;
  EXPECT_TRUE(is_right(report_of_gpu()));
}

TEST(LadderTable, ShowsNoRatesOfEmulatedKernels) {
  const std::string text = print(report_of_gpu(), true);
  EXPECT_EQ(text.find("FLOP/s"), std::string::npos) << text;
  EXPECT_NE(text.find("times mean nothing about GPUs"), std::string::npos) << text;
}

TEST(LadderTable, ShowsWhatDiffersAndWhatWasSkipped) {
  LadderReport report = report_of_gpu();
  LadderTable& table = report.tables.front();
  table.rows[0].wrong = "1 of 60 elements: [3, 5] is 0.25 instead of 0.5";
  table.rows[1].skipped =
      "it takes a GPU of compute capability 8.0 or higher, and this one has 7.5";
  const std::string text = print(report);
  EXPECT_NE(
      text.find("\ndot-non-divergent  DIFFERS: 1 of 60 elements: [3, 5] is 0.25 instead of 0.5\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\nstream-k *         skipped: it takes a GPU of compute capability 8.0 or "
                      "higher,\n                   and this one has 7.5\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("\n1 of 3 verified, 1 differs, 1 skipped\n")) << text;
  EXPECT_FALSE(is_right(report));
}

TEST(LadderTable, AReferenceThatDiffersIsWrong) {
  LadderReport report = report_of_gpu();
  report.tables.front().reference_rows.front().wrong = "1 of 60 elements: [0, 0] is 1 instead of 2";
  EXPECT_FALSE(is_right(report));
}

TEST(LadderTable, ComparesRatesAndNotTimes) {
  LadderTable table{"rung", "copy", {}, {{.name = "copy", .seconds = 1, .bytes = 2e9}}};
  EXPECT_EQ(share_of_reference({.seconds = 1, .bytes = 1e9}, table), 0.5);
  EXPECT_EQ(share_of_reference({.bytes = 1e9}, table), std::nullopt);
  table.reference_rows.clear();
  EXPECT_EQ(share_of_reference({.seconds = 1, .bytes = 1e9}, table), std::nullopt);
}

TEST_F(CommandLine, ALadderThatDiffersEndsWith1) {
  Stage stage;
  stage.program = "stage";
  stage.device = [] { return std::string("GPU"); };
  LadderReport report = report_of_gpu();
  const LadderCommand ladder{.name = "gemm",
                             .run = [&](const LadderRequest& /*request*/) { return report; }};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_ladder(stage, ladder, {}, {}), 0);
  report.tables.front().rows[0].wrong = "1 of 60 elements: [3, 5] is nan instead of 0.5";
  EXPECT_EQ(run_ladder(stage, ladder, {.request = {}, .report = path("report.json")}, {}), 1);
  testing::internal::GetCapturedStdout();
  EXPECT_NE(text("report.json").find("\"verified\": false"), std::string::npos);
  EXPECT_NE(text("report.json").find("[3, 5] is nan"), std::string::npos);
}

ValueDifference compare(const std::vector<float>& found, const std::vector<double>& expected) {
  return compare_values(std::span<const float>(found), std::span<const double>(expected));
}

TEST(CompareValues, FindsTheWorst) {
  const ValueDifference difference = compare({1, 2.5, 2, 4}, {1, 2, 2, 4});
  EXPECT_EQ(difference.place, 1);
  EXPECT_EQ(difference.worst, 0.5);
  EXPECT_EQ(difference.found, 2.5);
  EXPECT_EQ(difference.expected, 2);
  EXPECT_DOUBLE_EQ(difference.relative, 0.1);
  EXPECT_TRUE(difference.within(0.5));
  EXPECT_FALSE(difference.within(0.49));
}

TEST(CompareValues, EqualNumbersDoNotDiffer) {
  EXPECT_TRUE(compare({0, -1}, {0, -1}).within(0));
  EXPECT_EQ(compare({0, 0}, {0, 0}).relative, 0);
}

TEST(CompareValues, WhatIsNotFiniteNeverPasses) {
  const auto infinity = std::numeric_limits<float>::infinity();
  for (const float value : {std::nanf(""), infinity, -infinity}) {
    for (const std::vector<float>& found :
         {std::vector<float>{value, 9, 2}, std::vector<float>{9, value, 2},
          std::vector<float>{9, 2, value}}) {
      const ValueDifference difference = compare(found, {1, 1, 1});
      EXPECT_FALSE(difference.within(std::numeric_limits<double>::infinity()));
      EXPECT_FALSE(std::isfinite(difference.found)) << "the worst is the one that is not finite";
    }
  }
  EXPECT_FALSE(compare({infinity}, {std::numeric_limits<double>::infinity()}).within(1));
}

}  // namespace
}  // namespace stagewise

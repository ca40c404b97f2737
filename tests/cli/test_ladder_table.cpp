// How the results of ladders are judged and shown: those of a GPU, too, which need not be there.

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "ladders/program/table.hpp"

namespace stagewise::ladder {
namespace {

/// A row as a GPU fills it.
Row row_of(const std::string& name, double seconds) {
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
Table table_of_gpu() {
  Table table{"rung",
              "cuBLAS",
              {row_of("dot-non-divergent", 0.123), row_of("async-copies", 32.1e-6)},
              row_of("cuBLAS", 41.5e-6)};
  table.rows.back().picked = true;
  return table;
}

std::string print(const Table& table, Measured measured = Measured::rates) {
  std::ostringstream out;
  TablePrinter printer(out, table, measured);
  for (const Row& row : all_rows(table)) printer.print(row);
  print_verdict(out, {table});
  expect_narrow(out.str());
  EXPECT_EQ(count(out.str(), " \n"), 0) << out.str();
  return out.str();
}

/// As in an instrumented program, where kernels are counted.
TEST(LadderTable, ShowsWhatKernelsAskOfMemory) {
  Table table{"rung", "cuBLAS", {row_of("dot-non-divergent", 1), row_of("async-copies", 1)}, {}};
  KernelCounters slow;
  slow.loads = 1e6;
  slow.load_sectors = 16.54e6;
  slow.stores = 348359.375;
  slow.store_sectors = 32 * slow.stores;
  slow.bank_conflicts = 56'462'803;
  table.rows[0].counters = slow;
  KernelCounters storing;
  storing.stores = 69218.75;
  storing.store_sectors = 4 * storing.stores;
  table.rows[1].counters = storing;
  const std::string text = print(table, Measured::counters);
  expect_lines(text, {"rung               difference  sectors/load  /store  traffic   conflicts",
                      "dot-non-divergent     1.2e-07          16.5    32.0   100.0x  56,462,803",
                      "async-copies          1.2e-07             -     4.0     1.0x           0"});
}

TEST(LadderTable, ShowsRatesAndSharesOfTheReference) {
  const std::string text = print(table_of_gpu());
  expect_lines(text, {"rung               difference  to cuBLAS     time          rate  of cuBLAS",
                      "dot-non-divergent     1.2e-07    1.3e-07   123 ms  10.2 GFLOP/s        0 %",
                      "async-copies *        1.2e-07    1.3e-07  32.1 us  39.1 TFLOP/s      129 %",
                      "cuBLAS                1.2e-07    1.3e-07  41.5 us  30.2 TFLOP/s      100 %", "* ..."});
  EXPECT_TRUE(text.ends_with("\n3 of 3 verified\n")) << text;
  EXPECT_TRUE(is_right({table_of_gpu()}));
}

TEST(LadderTable, ShowsNoRatesOfEmulatedKernels) {
  const std::string text = print(table_of_gpu(), Measured::times);
  EXPECT_EQ(text.find("FLOP/s"), std::string::npos) << text;
  expect_contains(text, " 32.1 us ");
  EXPECT_EQ(print(table_of_gpu(), Measured::nothing).find(" us "), std::string::npos);
  std::ostringstream header;
  print_header(header, "GPU", true, {{"gemm", "C [1, 1] = A B"}});
  EXPECT_EQ(header.str(),
            "ladder on GPU\ngemm   C [1, 1] = A B\n"
            "note   kernels run on the CPU here: times mean nothing about GPUs\n");
}

/// Some rungs take minutes: nobody is to wait for the last before seeing the first.
TEST(LadderTable, ShowsARowWhenItIsDone) {
  Table table = table_of_gpu();
  const Row done = table.rows[0];
  table.rows[0].seconds = {};  // what is not run yet has no time
  table.rows[1].seconds = {};
  std::ostringstream out;
  TablePrinter printer(out, table, Measured::rates);
  EXPECT_EQ(lines_of(out.str()).size(), 2U) << out.str();
  printer.print(done);
  EXPECT_EQ(lines_of(out.str()).size(), 3U) << out.str();
  EXPECT_EQ(print(table_of_gpu()).find(out.str()), 0U) << "the later rows change nothing";
}

TEST(LadderTable, ShowsWhatDiffersAndWhatWasSkipped) {
  Table table = table_of_gpu();
  table.rows[0].wrong = "1 of 60 elements: [3, 5] is 0.25 instead of 0.5";
  table.rows[1].skipped = "it takes a GPU of compute capability 8.0 or higher, and this one has 7.5";
  const std::string text = print(table);
  expect_lines(text, {"dot-non-divergent  DIFFERS: 1 of 60 elements: [3, 5] is 0.25 instead of 0.5",
                      "async-copies *     skipped: it takes a GPU of compute capability 8.0 or higher,",
                      "                   and this one has 7.5"});
  EXPECT_TRUE(text.ends_with("\n1 of 3 verified, 1 differs, 1 skipped\n")) << text;
  EXPECT_FALSE(is_right({table}));
}

TEST(LadderTable, AReferenceThatDiffersIsWrong) {
  Table table = table_of_gpu();
  table.reference->wrong = "1 of 60 elements: [0, 0] is 1 instead of 2";
  EXPECT_FALSE(is_right({table}));
}

TEST(LadderTable, ComparesRatesAndNotTimes) {
  Table table{"rung", "copy", {}, Row{.name = "copy", .seconds = 1, .bytes = 2e9}};
  EXPECT_EQ(share_of_reference({.seconds = 1, .bytes = 1e9}, table), 0.5);
  EXPECT_EQ(share_of_reference({.bytes = 1e9}, table), std::nullopt);
  table.reference.reset();
  EXPECT_EQ(share_of_reference({.seconds = 1, .bytes = 1e9}, table), std::nullopt);
}

class LadderEnd : public CommandLine {
 protected:
  void SetUp() override { need_device("stage03_shared_memory"); }
};

TEST_F(LadderEnd, IsOneWhereARungDiffers) {
  Results results{"gemm", {{"m", 3}}, {table_of_gpu()}};
  Options options;
  testing::internal::CaptureStdout();
  EXPECT_EQ(finish(results, options, {}), 0);
  results.tables.front().rows[0].wrong = "1 of 60 elements: [3, 5] is nan instead of 0.5";
  options.report = path("report.json");
  EXPECT_EQ(finish(results, options, {}), 1);
  testing::internal::GetCapturedStdout();
  expect_contains(text("report.json"), "\"verified\": false");
  expect_contains(text("report.json"), "[3, 5] is nan");
}

/// The row of an output in which at most `bound` is allowed.
Row row_with(const std::vector<float>& found, const std::vector<double>& expected, double bound) {
  Row row{.bound = bound};
  note_difference(row, found, expected, 1, std::ssize(found));
  return row;
}

TEST(LadderRow, IsWrongBeyondItsBound) {
  const Row row = row_with({1, 2.5, 2, 4}, {1, 2, 2, 4}, 0.5);
  EXPECT_EQ(row.wrong, "");
  EXPECT_EQ(row.worst, 0.5);
  EXPECT_DOUBLE_EQ(row.difference, 0.1);
  expect_contains(row_with({1, 2.5, 2, 4}, {1, 2, 2, 4}, 0.49).wrong, "is 2.5 instead of 2");
  EXPECT_EQ(row_with({0, -1}, {0, -1}, 0).wrong, "");
  EXPECT_EQ(row_with({0, 0}, {0, 0}, 0).difference, 0);
}

TEST(LadderRow, IsWrongWhereANumberIsNotFinite) {
  const auto infinity = std::numeric_limits<float>::infinity();
  for (const float value : {std::nanf(""), infinity, -infinity}) {
    for (std::size_t place = 0; place < 3; ++place) {
      std::vector<float> found = {9, 9, 2};
      found[place] = value;
      expect_contains(row_with(found, {1, 1, 1}, 10).wrong, "1 of 3 elements");
    }
  }
  EXPECT_NE(row_with({infinity}, {std::numeric_limits<double>::infinity()}, 1).wrong, "");
}

}  // namespace
}  // namespace stagewise::ladder

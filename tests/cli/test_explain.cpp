// `train --explain`: what limits every line of a step.

#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Explain : public CommandLine {
 protected:
  /// The table of a training's output, from its heading to its total, all as wide.
  static std::vector<std::string> table_in(const std::string& output) {
    const std::string table = "line " + between(output, "\nline ", "\ntest ");
    expect_narrow(table);
    std::vector<std::string> lines = lines_of(table);
    for (const std::string& line : lines) {
      EXPECT_EQ(line.size(), lines.front().size()) << "columns are not aligned:\n" << output;
    }
    EXPECT_TRUE(lines.back().starts_with("all ")) << output;
    return lines;
  }

  const std::string explain =
      " train --train-limit 60 --test-limit 20 --hidden 8 --batch-size 20 --epochs 2 --explain "
      "--report report.json";
};

TEST_F(Explain, HasNoFloorsOnStage01) {
  const std::string output = run_well("stage01_serial" + explain);
  expect_contains(output,
                  "\na step, the mean of 6\n"
                  "what this device can do at most is unknown: there are no floors\n\nline ");
  EXPECT_EQ(count(output, "share"), 0) << "--timings was not asked for:\n" << output;
  const std::vector<std::string> lines = table_in(output);
  EXPECT_TRUE(lines.front().ends_with("FLOP/s      B/s")) << output;
  const json report = json::parse(text("report.json"));
  EXPECT_FALSE(report.contains("limits"));
  const json& timings = report.at("timings");
  EXPECT_EQ(lines.size(), timings.size() + 2);
  EXPECT_EQ(timings.at(1).at("operation"), "gemm  batch, fc1/weight -> fc1/product");
  EXPECT_EQ(timings.at(1).at("operations"), 6 * 2 * 20 * 784 * 8);
  EXPECT_FALSE(timings.at(1).contains("floor_seconds"));
}

TEST_F(Explain, HasAFloorForEachLineOfAGpu) {
  need_device("stage02_naive_cuda");
  if (IsSkipped()) return;
  for (const std::string stage : {"stage02_naive_cuda", "stage04_minibatch"}) {
    const std::string output = run_well(stage + explain);
    const std::vector<std::string> lines = table_in(output);
    const json report = json::parse(text("report.json"));
    EXPECT_EQ(lines.size(), report.at("timings").size() + 2) << output;
    for (const json& row : report.at("timings")) {
      EXPECT_GT(row.at("floor_seconds"), 0) << row;
      EXPECT_EQ(row.at("bound"), "launch") << "so small is this network: " << row;
    }
    EXPECT_GT(report.at("limits").at("bytes_per_second"), 1e11) << "a roofline needs it";
    // Where kernels run on the CPU, the floors are those of a GPU, and times are not shown.
    const bool is_emulated = report.at("cuda_on_cpu");
    EXPECT_EQ(count(output, "floors of an NVIDIA H200 (there is no GPU here): 66.9 TFLOP/s, "),
              is_emulated ? 1 : 0)
        << output;
    EXPECT_TRUE(lines.front().ends_with(is_emulated ? "floor bound by" : "time x floor")) << output;
  }
}

}  // namespace
}  // namespace stagewise

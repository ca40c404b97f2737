// `train --explain`: what limits every line of a step.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

using nlohmann::json;

class Explain : public CommandLine {
 protected:
  /// The table of a training's output, from its heading to its total, all as wide and none too
  /// wide.
  static std::vector<std::string> table_in(const std::string& output) {
    std::vector<std::string> lines = lines_of("line " + between(output, "\nline ", "\ntest "));
    for (const std::string& line : lines) {
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_EQ(line.size(), lines.front().size()) << "columns are not aligned:\n" << output;
    }
    EXPECT_TRUE(lines.back().starts_with("all ")) << output;
    return lines;
  }
};

TEST_F(Explain, HasNoFloorsOnStage01) {
  const std::string output =
      run_well(short_training + " --epochs 2 --explain --report report.json");
  EXPECT_NE(output.find("\na step, the mean of 6\n"
                        "what this device can do at most is unknown: there are no floors\n\nline "),
            std::string::npos)
      << output;
  EXPECT_EQ(output.find("share"), std::string::npos) << "--timings was not asked for:\n" << output;
  const std::vector<std::string> lines = table_in(output);
  EXPECT_TRUE(lines.front().ends_with("FLOP/s      B/s")) << output;
  const json report = json::parse(text("report.json"));
  EXPECT_FALSE(report.contains("limits"));
  const json& timings = report.at("timings");
  EXPECT_EQ(lines.size(), timings.size() + 2);
  for (const json& row : timings) {
    EXPECT_GT(row.at("bytes"), 0) << row;
    EXPECT_FALSE(row.contains("floor_seconds")) << row;
  }
  EXPECT_EQ(timings.at(1).at("operation"), "gemm  batch, fc1/weight -> fc1/product");
  EXPECT_EQ(timings.at(1).at("operations"), 6 * 2 * 20 * 784 * 8);
}

TEST_F(Explain, HasAFloorForEachLineOfAGpu) {
  need_device("stage02_naive_cuda");
  const std::string options =
      " train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 "
      "--epochs 1 --explain --report report.json";
  for (const std::string stage : {"stage02_naive_cuda", "stage04_minibatch"}) {
    const std::string output = run_well(stage + options);
    const std::vector<std::string> lines = table_in(output);
    const json report = json::parse(text("report.json"));
    EXPECT_EQ(lines.size(), report.at("timings").size() + 2) << output;
    for (const json& row : report.at("timings")) {
      EXPECT_GT(row.at("floor_seconds"), 0) << row;
      EXPECT_EQ(row.at("bound"), "launch") << "so small is this network: " << row;
    }
    EXPECT_GT(report.at("limits").at("bytes_per_second"), 1e11) << "a roofline needs it";
    EXPECT_GT(report.at("limits").at("operations_per_second"), 1e12);
    // Where kernels run on the CPU, the floors are those of a GPU, and times are not shown.
    const bool is_emulated = report.at("cuda_on_cpu");
    EXPECT_EQ(output.find("floors of an NVIDIA H200 (there is no GPU here): 66.9 TFLOP/s, ") !=
                  std::string::npos,
              is_emulated)
        << output;
    EXPECT_TRUE(lines.front().ends_with(is_emulated ? "floor bound by" : "time x floor")) << output;
  }
}

}  // namespace
}  // namespace stagewise

// `train --explain`: what limits every line of a step. `evaluate --latency`: a table of the ways in
// which a program answers a batch.

#include <sstream>

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
    EXPECT_EQ(count(output, "floors of an NVIDIA H200 (there is no GPU here): 66.9 TFLOP/s, "), is_emulated ? 1 : 0)
        << output;
    EXPECT_TRUE(lines.front().ends_with(is_emulated ? "floor bound by" : "time x floor")) << output;
  }
}

class Latency : public CommandLine {
 protected:
  /// Expects a table with one row for each path, both on the terminal and in the report.
  void expect_paths(const std::string& program, const std::string& options, const std::string& heading,
                    const std::vector<std::string>& paths) {
    const std::string output =
        run_well(program + " evaluate --latency --test-limit 50 --report report.json " + options);
    SCOPED_TRACE(output);
    expect_narrow(output);
    const std::vector<std::string> lines = lines_of(output);
    const json latency = json::parse(text("report.json")).at("latency");
    ASSERT_EQ(latency.size(), paths.size());
    ASSERT_GE(lines.size(), paths.size() + 3);
    const std::size_t first = lines.size() - paths.size();
    EXPECT_EQ(lines[first - 3], "");
    EXPECT_EQ(lines[first - 2], "latency of a batch of " + heading);
    EXPECT_EQ(lines[first - 1], "path              median        95 %        99 %        runs");
    for (std::size_t i = 0; i < paths.size(); ++i) {
      EXPECT_EQ(lines[first + i].size(), lines[first - 1].size());
      std::istringstream words(lines[first + i]);
      std::string path;
      double median = 0;
      words >> path >> median;
      EXPECT_EQ(path, paths[i]);
      EXPECT_GT(median, 0);
      EXPECT_EQ(latency[i].at("path"), paths[i]);
      EXPECT_GE(latency[i].at("samples"), 5);
      EXPECT_GT(latency[i].at("median_seconds"), 0);
      EXPECT_LE(latency[i].at("median_seconds"), latency[i].at("p95_seconds"));
      EXPECT_LE(latency[i].at("p95_seconds"), latency[i].at("p99_seconds"));
    }
  }
};

TEST_F(Latency, HasARowForEachPath) {
  const std::string without_copies = ", host to host; device: without copies";
  expect_paths("stage01_serial", "--load digits.h5 --batch-size 1", "1, host to host", {"eager"});
  // A batch is no larger than the data set.
  expect_paths("stage01_serial", "--load digits.h5 --batch-size 60", "50, host to host", {"eager"});
  need_device("stage04_minibatch");
  if (IsSkipped()) return;
  expect_paths("stage04_minibatch", "--load double.h5 --batch-size 7", "7, host to host", {"eager", "captured"});
  run_well("stage01_serial train --epochs 0 --hidden 40,20 --save untrained.h5");
  for (const std::string network : {"digits.h5", "neuron.h5", "untrained.h5"}) {
    expect_paths("ladder persistent", "--batch-size 1 --load " + network, "1" + without_copies,
                 {"eager", "captured", "streamed", "device", "persistent"});
  }
  expect_paths("ladder persistent", "--batch-size 7 --load digits.h5", "7" + without_copies,
               {"eager", "captured", "streamed", "device"});
}

}  // namespace
}  // namespace stagewise

// `evaluate --latency`: a table of the ways in which a stage answers a batch.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

using nlohmann::json;

class Latency : public CommandLine {
 protected:
  /// Expects a table with one row for each path, both on the terminal and in the report.
  void expect_paths(const std::string& command, const std::string& batch,
                    const std::vector<std::string>& paths) {
    const std::string output = run_well(command + " --latency --report report.json");
    const std::vector<std::string> lines = lines_of(output);
    for (const std::string& line : lines) EXPECT_LE(line.size(), 80U) << line;
    ASSERT_GE(lines.size(), paths.size() + 3) << output;
    const std::size_t first = lines.size() - paths.size();
    EXPECT_EQ(lines[first - 3], "");
    const bool has_device = std::find(paths.begin(), paths.end(), "device") != paths.end();
    EXPECT_EQ(lines[first - 2], "latency of a batch of " + batch + ", host to host" +
                                    (has_device ? "; device: without copies" : ""));
    EXPECT_EQ(lines[first - 1], "path              median        95 %        99 %        runs");

    const json latency = json::parse(text("report.json")).at("latency");
    ASSERT_EQ(latency.size(), paths.size()) << latency;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::string& line = lines[first + i];
      EXPECT_EQ(line.size(), lines[first - 1].size()) << line;
      std::istringstream words(line);
      std::string path;
      double median = 0;
      std::string unit;
      words >> path >> median >> unit;
      EXPECT_EQ(path, paths[i]) << line;
      EXPECT_GT(median, 0) << line;
      EXPECT_TRUE(unit == "us" || unit == "ms" || unit == "s") << line;

      EXPECT_EQ(latency[i].at("path"), paths[i]);
      EXPECT_GE(latency[i].at("samples"), 5);
      EXPECT_GT(latency[i].at("median_seconds"), 0);
      EXPECT_LE(latency[i].at("median_seconds"), latency[i].at("p95_seconds"));
      EXPECT_LE(latency[i].at("p95_seconds"), latency[i].at("p99_seconds"));
    }
  }
};

TEST_F(Latency, HasOnePathOnStage01) {
  expect_paths("stage01_serial evaluate --load digits.h5 --test-limit 50 --batch-size 1", "1",
               {"eager"});
  const json report = json::parse(text("report.json"));
  EXPECT_EQ(report.at("latency")[0].at("samples"), 200);
}

TEST_F(Latency, IsThatOfTheWholeDataSetWhereABatchIsLarger) {
  expect_paths("stage01_serial evaluate --load digits.h5 --test-limit 50 --batch-size 60", "50",
               {"eager"});
}

class LatencyOfStage04 : public Latency {
 protected:
  void SetUp() override { need_device("stage04_minibatch"); }
};

TEST_F(LatencyOfStage04, HasTwoPaths) {
  for (const std::string network : {"digits.h5", "double.h5", "neuron.h5"}) {
    for (const std::string batch : {"1", "7"}) {
      expect_paths(
          "stage04_minibatch evaluate --test-limit 50 --load " + network + " --batch-size " + batch,
          batch, {"eager", "captured"});
    }
  }
}

class LadderLatency : public Latency {
 protected:
  void SetUp() override { need_device("ladder persistent"); }

  const std::string evaluate = "ladder persistent evaluate --test-limit 50 --load ";
  const std::vector<std::string> five = {"eager", "captured", "streamed", "device", "persistent"};
};

TEST_F(LadderLatency, HasFivePathsForOneImage) {
  for (const std::string network : {"digits.h5", "double.h5", "neuron.h5"}) {
    expect_paths(evaluate + network + " --batch-size 1", "1", five);
  }
}

TEST_F(LadderLatency, HasFourPathsForMoreImages) {
  expect_paths(evaluate + "digits.h5 --batch-size 7", "7",
               {"eager", "captured", "streamed", "device"});
}

TEST_F(LadderLatency, TakesANetworkThatHasNotLearned) {
  run_well("stage01_serial train --epochs 0 --save untrained.h5");
  expect_paths(evaluate + "untrained.h5 --batch-size 1", "1", five);
}

}  // namespace
}  // namespace stagewise

// `evaluate --latency`: a table of the ways in which a program answers a batch.

#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Latency : public CommandLine {
 protected:
  /// Expects a table with one row for each path, both on the terminal and in the report.
  void expect_paths(const std::string& program, const std::string& options,
                    const std::string& heading, const std::vector<std::string>& paths) {
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
  expect_paths("stage04_minibatch", "--load double.h5 --batch-size 7", "7, host to host",
               {"eager", "captured"});
  run_well("stage01_serial train --epochs 0 --save untrained.h5");
  for (const std::string network : {"digits.h5", "neuron.h5", "untrained.h5"}) {
    expect_paths("ladder persistent", "--batch-size 1 --load " + network, "1" + without_copies,
                 {"eager", "captured", "streamed", "device", "persistent"});
  }
  expect_paths("ladder persistent", "--batch-size 7 --load digits.h5", "7" + without_copies,
               {"eager", "captured", "streamed", "device"});
}

}  // namespace
}  // namespace stagewise

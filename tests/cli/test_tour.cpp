// The table that compares stages.

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

class Tour : public CommandLine {
 protected:
  /// The tour through these programs; `code` receives its exit code.
  std::string tour(std::vector<std::string> programs, int& code) {
    std::vector<std::string> words = resolve("tour --output out --stage");
    words.insert(words.end(), programs.begin(), programs.end());
    const Outcome outcome = CommandLine::run(words);
    EXPECT_EQ(outcome.err, "");
    for (const std::string& line : lines_of(outcome.out)) EXPECT_LE(line.size(), 80U) << line;
    code = outcome.exit_code;
    return outcome.out;
  }

  /// A program that trains like stage 01, except that it says so.
  std::string impostor(const std::string& name, const std::string& more_options) {
    std::ofstream(path(name)) << "#!/bin/sh\nexec '" << stage01 << "' \"$@\" " << more_options
                              << '\n';
    fs::permissions(path(name), fs::perms::owner_all);
    return path(name).string();
  }

  /// A program that reports a step of two lines, each with these counters.
  std::string counting(const std::string& name, const std::string& what) {
    std::ofstream(path(name))
        << "#!/bin/sh\n"
           "while [ $# -gt 0 ]; do [ $1 != --report ] || report=$2; shift; done\n"
           "line='{\"counted_floor_seconds\": 2e-6, \"counters\": {"
        << what << "}}'\n"
        << "echo \"{\\\"timings\\\": [$line, $line]}\" >$report\n";
    fs::permissions(path(name), fs::perms::owner_all);
    return path(name).string();
  }

  /// The tour with these programs for counting, and the file of what has been measured.
  Outcome count(const std::vector<std::string>& programs, const std::string& measured = "") {
    std::vector<std::string> words = resolve("tour --output out --stage");
    words.push_back(stage01);
    words.emplace_back("--counting");
    words.insert(words.end(), programs.begin(), programs.end());
    if (!measured.empty()) words.insert(words.end(), {"--measured", measured});
    return CommandLine::run(words);
  }

  const std::string counters =
      R"("launches": 3, "copies": 1, "loads": 100000, "load_sectors": 400000, "stores": 20000, )"
      R"("store_sectors": 160000, "distinct_bytes": 640, "shared_cycles": 7, "bank_conflicts": 5)";
  const std::string stage01 = resolve("stage01_serial").front();
};

TEST_F(Tour, ThroughOneStageIsARow) {
  int code = -1;
  const std::string output = tour({stage01}, code);
  EXPECT_EQ(code, 0);
  EXPECT_NE(output.find("\n01_serial "), std::string::npos) << output;
  EXPECT_NE(output.find(" 1.00x "), std::string::npos) << output;
  EXPECT_EQ(output.find("equal\n"), std::string::npos) << "nothing to compare with:\n" << output;
  EXPECT_TRUE(fs::exists(path("out/stage01_serial.h5")));
  EXPECT_TRUE(fs::exists(path("out/stage01_serial.json")));
}

TEST_F(Tour, ThroughTheSameStageTwiceFindsThemEqual) {
  int code = -1;
  const std::string output = tour({stage01, stage01}, code);
  EXPECT_EQ(code, 0);
  EXPECT_NE(output.find(" 0.0e+00 equal\n"), std::string::npos) << output;
}

TEST_F(Tour, NoticesAStageThatComputesSomethingElse) {
  int code = -1;
  const std::string output = tour({stage01, impostor("stage02_wrong", "--l2 1e-6")}, code);
  EXPECT_EQ(code, 1);
  EXPECT_NE(output.find("\n02_wrong "), std::string::npos) << output;
  EXPECT_NE(output.find(" DIFFERS\n"), std::string::npos) << output;
}

TEST_F(Tour, ToleratesRounding) {
  int code = -1;
  const std::string output = tour({stage01, impostor("stage02_other", "--gemm blas")}, code);
  EXPECT_EQ(code, 0) << output;
  EXPECT_NE(output.find(" equal\n"), std::string::npos) << output;
}

TEST_F(Tour, DoesNotTakeOldResultsForNewOnes) {
  int code = -1;
  tour({stage01}, code);
  std::ofstream(path("stage01_serial")) << "#!/bin/sh\nexit 0\n";
  fs::permissions(path("stage01_serial"), fs::perms::owner_all);
  std::vector<std::string> words = resolve("tour --output out --stage");
  words.emplace_back("./stage01_serial");
  EXPECT_EQ(CommandLine::run(words).exit_code, 1);
}

TEST_F(Tour, ShowsCountersInsteadOfTimes) {
  std::ofstream(path("measured.json"))
      << R"({"stages": {"stage01_serial": {"images_per_second": 50000, "on": "a CPU core"},)"
      << R"( "stage02_fake": {"images_per_second": 2e6, "on": "H200"}}})";
  const Outcome outcome = count(
      {counting("stage02_fake", counters), counting("stage03_fake", counters)}, "measured.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const std::string& line : lines_of(outcome.out)) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_EQ(outcome.out.find("images/s"), std::string::npos) << outcome.out;
  const auto has_line = [&](const std::string& line) {
    std::vector<std::string> found = lines_of(outcome.out);
    for (std::string& one : found) {  // columns are as wide as they need to be
      one = std::regex_replace(one, std::regex(" +"), " ");
    }
    EXPECT_NE(std::find(found.begin(), found.end(), line), found.end()) << line << outcome.out;
  };
  has_line("01_serial - - - - - - 20.0 ms a CPU core");
  has_line("02_fake 6 2 240 36 4.7 4.00 us 500 us H200");
  has_line("03_fake 6 2 240 36 4.7 4.00 us - -");
}

TEST_F(Tour, NeedsProgramsThatCount) {
  const Outcome outcome = count({counting("stage02_fake", R"("launches": 3)")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "tour: stage02_fake did not write a report to out/stage02_fake_counters.json that the "
            "tour understands; is it a program of the target observed_stages?\n");
}

TEST_F(Tour, NeedsResultsInTheFileOfMeasured) {
  std::ofstream(path("measured.json")) << "{}";
  const Outcome outcome = count({counting("stage02_fake", counters)}, "measured.json");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "tour: the file measured.json of --measured has no results of stages.\n");
}

TEST_F(Tour, LeavesTheFilesOfOthersAlone) {
  fs::create_directory(path("out"));
  std::ofstream(path("out/stage01_serial.log")) << "precious";
  std::vector<std::string> words = resolve("tour --output out --stage");
  words.push_back(stage01);
  const Outcome outcome = CommandLine::run(words);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "tour: the folder out has files that no tour has written; --output needs one that is "
            "new or empty.\n");
  EXPECT_EQ(fs::file_size(path("out/stage01_serial.log")), 8U);
}

TEST_F(Tour, PassesOnWhatAFailingStageSays) {
  std::vector<std::string> words = resolve("tour --output out --stage");
  words.push_back(impostor("stage02_wrong", "--nonsense"));
  const Outcome outcome = CommandLine::run(words);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "stage01_serial: option '--nonsense' is unknown; stage01_serial train --help lists "
            "what there is.\n"
            "tour: stage02_wrong ended with exit code 2; what it printed is above and in "
            "out/stage02_wrong.log.\n");
}

}  // namespace
}  // namespace stagewise

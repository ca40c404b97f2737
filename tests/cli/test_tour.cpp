// The table that compares stages.

#include <fstream>
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

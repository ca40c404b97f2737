// Help texts: complete, and readable on a terminal of 80 columns.

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Help : public CommandLine, public testing::WithParamInterface<const char*> {};

TEST_P(Help, FitsOnATerminal) {
  const std::string program = GetParam();
  const std::string help = run_well(program + " --help");
  EXPECT_NE(help.find("\nUsage: " + program), std::string::npos) << help;
  for (const std::string& line : lines_of(help)) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
  }
  EXPECT_EQ(help.find("\n\n\n"), std::string::npos) << help;
  EXPECT_FALSE(help.ends_with("\n\n")) << help;
  EXPECT_EQ(help.find("report 0"), std::string::npos) << "who has not read it? " << help;
  EXPECT_EQ(run_well(program + " -h"), help);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Help,
    testing::Values("stage01_serial", "stage01_serial train", "stage01_serial evaluate",
                    "stage01_serial predict", "stage01_serial info", "compare_checkpoints",
                    "ladder", "ladder gemm", "ladder reduce", "ladder transpose",
                    "ladder convolution", "ladder blocked", "ladder blocked train", "ladder rungs",
                    "ladder rungs train", "ladder rungs evaluate", "ladder tf32 train",
                    "ladder persistent", "ladder persistent train", "ladder persistent evaluate",
                    "fold_bias", "fold_bias train", "make_dataset", "matrix_files",
                    "per_step_memory", "per_step_memory train"),
    [](const auto& test) { return test_name(test.param); });

TEST_F(CommandLine, HelpNamesEveryOption) {
  const std::string help = run_well("stage01_serial train --help");
  for (const std::string option :
       {"--dataset NAME",    "--format NAME",     "--data-dir DIR",   "--train-limit N",
        "--validation N",    "--test-limit N",    "--model NAME",     "--hidden LIST",
        "--activation NAME", "--loss NAME",       "--precision NAME", "--batch-size N",
        "--epochs N",        "--learning-rate X", "--l2 X",           "--seed N",
        "--shuffle on|off",  "--load FILE",       "--save FILE",      "--save-every K",
        "--resume FILE",     "--report FILE",     "--timings",        "--gemm NAME",
        "--save-best FILE",  "--log-every K",     "--csv FILE"}) {
    EXPECT_NE(help.find("\n  " + option + " "), std::string::npos) << option << help;
  }
  EXPECT_EQ(help.find("--transport"), std::string::npos) << "other stages' options are not shown";
}

TEST_F(CommandLine, HelpSaysWhatResumingDoes) {
  std::istringstream words(run_well("stage01_serial train --help"));
  std::string help;  // in one line
  for (std::string word; words >> word;) help += word + " ";
  EXPECT_NE(help.find("; with --resume the total, those done before included "), std::string::npos)
      << help;
  EXPECT_NE(help.find("--test-limit N use the first N test samples; --resume does not remember it"),
            std::string::npos)
      << help;
}

std::vector<std::string> stages() {
  std::vector<std::string> names = {"stage01_serial", "stage02_naive_cuda", "stage03_shared_memory",
                                    "stage04_minibatch"};
#ifdef STAGEWISE_STAGE05
  names.emplace_back("stage05_mpi");
#endif
  return names;
}

/// Programs that train as a stage does, with other kernels.
std::vector<std::string> variants() {
  return {"ladder blocked",    "ladder rungs",    "ladder tf32",
          "ladder persistent", "per_step_memory", "fold_bias"};
}

std::vector<std::string> trainings() {
  std::vector<std::string> names = stages();
  for (const std::string& variant : variants()) names.push_back(variant);
  return names;
}

TEST_F(CommandLine, HelpOfTrainFitsOnTwoScreens) {
  if (sanitized) GTEST_SKIP() << "shown by the other builds";
  for (const std::string& program : trainings()) {
    EXPECT_LE(lines_of(run_well(program + " train --help")).size(), 2U * 55) << program;
  }
}

TEST_F(CommandLine, HelpOfTheLadderListsWhatTrains) {
  const std::string help = run_well("ladder --help");
  for (const std::string command : {"blocked", "rungs", "tf32", "persistent"}) {
    EXPECT_NE(help.find("\n  " + command + " "), std::string::npos) << command << help;
  }
}

TEST_F(CommandLine, EveryProgramSaysWhereTheOptionsOfOthersAre) {
  if (sanitized) GTEST_SKIP() << "shown by the other builds";
  std::map<std::string, std::set<std::string>> having;    // programs, by option
  std::map<std::string, std::set<std::string>> offering;  // those that are named
  for (const std::string& program : trainings()) {
    for (const std::string& line : lines_of(run_well(program + " train --help"))) {
      if (line.starts_with("  --")) having[line.substr(4, line.find(' ', 4) - 4)].insert(program);
    }
  }
  // A variant is named for what no stage has.
  const std::vector<std::string> named = stages();
  for (const auto& [option, programs] : having) {
    for (const std::string& program : programs) {
      if (std::find(named.begin(), named.end(), program) != named.end()) {
        offering[option].insert(program);
      }
    }
    if (offering[option].empty()) offering[option] = programs;
  }
  for (const auto& [option, program] :
       std::map<std::string, std::string>{{"math", "ladder tf32"},
                                          {"persistent", "ladder persistent"},
                                          {"memory", "per_step_memory"},
                                          {"fold-bias", "fold_bias"}}) {
    EXPECT_EQ(offering[option], std::set<std::string>{program});
  }
  EXPECT_TRUE(offering.contains("workers"));
  for (const auto& [option, others] : offering) {
    for (const std::string& stage : trainings()) {
      if (having.at(option).contains(stage)) continue;
      const std::string said = run(stage + " train --" + option).err;
      EXPECT_TRUE(said.starts_with(stage + ": --" + option + " is offered by ")) << said;
      EXPECT_TRUE(said.ends_with(", not by " + stage + ".\n")) << said;
      for (const std::string& other : others) EXPECT_NE(said.find(other), said.npos) << said;
    }
  }
}

TEST_F(CommandLine, EveryProgramSaysItsVersion) {
  for (const std::string program :
       {"stage01_serial", "compare_checkpoints", "fold_bias", "ladder", "ladder persistent",
        "make_dataset", "matrix_files", "per_step_memory"}) {
    const std::string version = run_well(program + " --version");
    EXPECT_TRUE(version.starts_with("Stagewise ")) << version;
    EXPECT_EQ(lines_of(version).size(), 1U) << version;
  }
}

}  // namespace
}  // namespace stagewise

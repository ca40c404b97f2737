// Help texts: complete, and readable on a terminal of 80 columns.

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

INSTANTIATE_TEST_SUITE_P(Programs, Help,
                         testing::Values("stage01_serial", "stage01_serial train",
                                         "stage01_serial evaluate", "stage01_serial predict",
                                         "stage01_serial info", "compare_checkpoints", "ladder",
                                         "ladder gemm", "ladder reduce", "ladder transpose",
                                         "ladder convolution", "make_dataset", "tour"),
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

TEST_F(CommandLine, EveryStageSaysWhereTheOptionsOfOthersAre) {
  if (sanitized) GTEST_SKIP() << "shown by the other builds";
  std::vector<std::string> stages = {"stage01_serial", "stage02_naive_cuda",
                                     "stage03_shared_memory", "stage04_minibatch"};
#ifdef STAGEWISE_STAGE05
  stages.emplace_back("stage05_mpi");
#endif
  std::map<std::string, std::set<std::string>> offering;  // by option
  for (const std::string& stage : stages) {
    for (const std::string& line : lines_of(run_well(stage + " train --help"))) {
      if (line.starts_with("  --")) offering[line.substr(4, line.find(' ', 4) - 4)].insert(stage);
    }
  }
  EXPECT_TRUE(offering.contains("math") && offering.contains("workers"));
  for (const auto& [option, others] : offering) {
    for (const std::string& stage : stages) {
      if (others.contains(stage)) continue;
      const std::string said = run(stage + " train --" + option).err;
      EXPECT_TRUE(said.starts_with(stage + ": --" + option + " is offered by ")) << said;
      EXPECT_TRUE(said.ends_with(", not by " + stage + ".\n")) << said;
      for (const std::string& other : others) EXPECT_NE(said.find(other), said.npos) << said;
    }
  }
}

TEST_F(CommandLine, EveryProgramSaysItsVersion) {
  for (const std::string program :
       {"stage01_serial", "compare_checkpoints", "ladder", "make_dataset", "tour"}) {
    const std::string version = run_well(program + " --version");
    EXPECT_TRUE(version.starts_with("Stagewise ")) << version;
    EXPECT_EQ(lines_of(version).size(), 1U) << version;
  }
}

}  // namespace
}  // namespace stagewise

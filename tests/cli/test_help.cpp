// Help texts: complete, and readable on a terminal of 80 columns.

#include <sstream>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

std::vector<std::string> commands() {
  std::vector<std::string> all = {"compare_checkpoints", "ladder",           "ladder gemm",
                                  "ladder reduce",       "ladder transpose", "ladder convolution",
                                  "make_dataset"};
  for (const std::string& program : programs_that_train()) {
    all.push_back(program);
    for (const std::string command : {" train", " evaluate"}) all.push_back(program + command);
  }
  for (const std::string& stage : {stages().front(), stages().back()}) {
    for (const std::string command : {" predict", " info"}) all.push_back(stage + command);
  }
#ifdef STAGEWISE_STAGE05
  all.emplace_back("grade");
#endif
  return all;
}

class Help : public CommandLine {};

TEST_F(Help, FitsOnATerminal) {
  for (const std::string& command : commands()) {
    const std::string help = run_well(command + " --help");
    expect_contains(help, "\nUsage: " + command);
    expect_narrow(help);
    for (const std::string part : {" \n", "\n\n\n", "report 0"}) {
      EXPECT_EQ(count(help, part), 0) << help;
    }
    EXPECT_FALSE(help.ends_with("\n\n")) << help;
    EXPECT_LE(lines_of(help).size(), 2U * 55) << "two screens";
  }
  EXPECT_EQ(run_well("stage01_serial -h"), run_well("stage01_serial --help"));
}

TEST_F(Help, NamesEveryOption) {
  run_table("help");
}

/// None without effect, and none that no test knows.
TEST_F(Help, NamesNoOtherOptions) {
  const std::string of_all = " precision seed rung repetitions report";
  for (const auto& [command, options] :
       Sayings{{"ladder gemm",
                "m n k alpha beta transpose-a transpose-b picked tiles cublas roofline" + of_all},
               {"ladder reduce", "m n" + of_all},
               {"ladder transpose", "m n" + of_all},
               {"ladder convolution", "images size channels filter filters" + of_all},
#ifdef STAGEWISE_STAGE05
               {"grade",
                "mode dataset data-dir train-limit validation hidden batch-size epochs strategy "
                "tensor-ranks transport sequential version"}
#endif
       }) {
    const std::vector<std::string> known = words_of(options);
    EXPECT_EQ(options_of(command), std::set<std::string>(known.begin(), known.end())) << command;
  }
}

TEST_F(Help, SaysWhatResumingDoes) {
  std::istringstream words(run_well("stage01_serial train --help"));
  std::string help;  // in one line
  for (std::string word; words >> word;) help += word + " ";
  expect_contains(help, "; with --resume the total, those done before included ");
  expect_contains(help,
                  "--test-limit N use the first N test samples; --resume does not remember it");
}

TEST_F(Help, SaysWhereTheOptionsOfOthersAre) {
  std::map<std::string, std::set<std::string>> having;    // programs, by option
  std::map<std::string, std::set<std::string>> offering;  // those that are named
  for (const std::string& program : programs_that_train()) {
    for (const std::string& option : options_of(program + " train")) having[option].insert(program);
  }
  // A variant is named for what no stage has.
  for (const auto& [option, programs] : having) {
    for (const std::string& stage : stages()) {
      if (programs.contains(stage)) offering[option].insert(stage);
    }
    if (offering[option].empty()) offering[option] = programs;
  }
  for (const auto& [option, program] : Sayings{{"math", "ladder tf32"},
                                               {"persistent", "ladder persistent"},
                                               {"memory", "per_step_memory"},
                                               {"fold-bias", "fold_bias"}}) {
    EXPECT_EQ(offering[option], std::set<std::string>{program});
  }
  EXPECT_TRUE(offering.contains("workers"));
  for (const auto& [option, others] : offering) {
    for (const std::string& program : {stages().front(), stages().back(), variants.front()}) {
      if (having.at(option).contains(program)) continue;
      const std::string said =
          expect_failure(program + " train --" + option, 2, "--" + option + " is offered by ");
      EXPECT_TRUE(said.ends_with(", not by " + program + ".")) << said;
      for (const std::string& other : others) expect_contains(said, other);
    }
  }
}

TEST_F(Help, SaysTheVersion) {
  for (const std::string program : {"stage01_serial", "compare_checkpoints", "fold_bias", "ladder",
                                    "ladder persistent", "make_dataset", "per_step_memory"}) {
    const std::string version = run_well(program + " --version");
    EXPECT_TRUE(version.starts_with("Stagewise ")) << version;
    EXPECT_EQ(lines_of(version).size(), 1U) << version;
  }
}

}  // namespace
}  // namespace stagewise

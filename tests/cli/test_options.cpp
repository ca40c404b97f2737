// Options. Help texts name them all, and are readable on a terminal of 80 columns. Each option of
// every command changes something. If it does not, a note says so, or it is refused because the run
// would contradict it.

#include <regex>
#include <sstream>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

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

/// What `info` says of the program goes along.
TEST_F(Help, NamesEveryOption) { run_table("help"); }

/// None without effect, and none that no test knows.
TEST_F(Help, NamesNoOtherOptions) {
  for (const auto& [command, options] : table("options")) {
    if (command == "grade" && stages().back() != "stage05_mpi") continue;
    const std::vector<std::string> known = words_of(options);
    EXPECT_EQ(options_of(command), std::set<std::string>(known.begin(), known.end())) << command;
  }
}

TEST_F(Help, SaysWhatResumingDoes) {
  std::istringstream words(run_well("stage01_serial train --help"));
  std::string help;  // in one line
  for (std::string word; words >> word;) help += word + " ";
  expect_contains(help, "; with --resume the total, those done before included ");
  expect_contains(help, "--test-limit N use the first N test samples; --resume does not remember it");
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
      const std::string said = expect_failure(program + " train --" + option, 2, "--" + option + " is offered by ");
      EXPECT_TRUE(said.ends_with(", not by " + program + ".")) << said;
      for (const std::string& other : others) expect_contains(said, other);
    }
  }
}

TEST_F(Help, SaysTheVersion) {
  for (const std::string program : {"stage01_serial", "compare_checkpoints", "fold_bias", "ladder", "ladder persistent",
                                    "make_dataset", "per_step_memory"}) {
    const std::string version = run_well(program + " --version");
    EXPECT_TRUE(version.starts_with("Stagewise ")) << version;
    EXPECT_EQ(lines_of(version).size(), 1U) << version;
  }
}

// ---------------------------------------------------------------------------------- their effects

const std::string tiny_data = " --dataset gaussian --samples 40 --features 4 ";
const std::string tiny = tiny_data + "--classes 3 --hidden 4 --batch-size 10 --epochs 1 ";
const std::string tiny_cnn = " --model cnn --train-limit 4 --test-limit 2 --batch-size 2 --epochs 1 ";

class IdleOptions : public EachProgram {
 protected:
  /// Everything that a training leaves behind, but for times.
  std::string results_of(const std::string& options) {
    run_well(GetParam() + " train " + options + " --save a.h5 --report a.json");
    json report = json::parse(text("a.json"));
    std::string results = text("a.h5");
    for (const char* const key : {"model", "dataset", "precision", "batch_size", "test_loss", "test_accuracy"}) {
      results += report.at(key).dump();
    }
    for (const auto& epoch : report.at("epochs")) {
      results += epoch.at("train_loss").dump() + (epoch.contains("validation_accuracy") ? "v" : "");
    }
    for (const auto& row : report.at("timings")) results += row.at("operation").dump();
    return results;
  }
};

/// The table has options with their values, and trainings of which they change what comes out; %
/// stands for a product that the program does not default to.
TEST_P(IdleOptions, EveryOptionOfTrainChangesSomething) {
  const bool is_first = GetParam() == "stage01_serial";
  std::map<std::string, std::string> known_results;
  const std::set<std::string> offered = options_of(GetParam() + " train");
  const std::set<std::string> shared = options_of("stage01_serial train");
  // What files say, or stage 05's processes, is shown elsewhere.
  std::set<std::string> known = {"help",       "format",   "data-dir",  "label",     "load",    "save",
                                 "save-every", "resume",   "save-best", "report",    "csv",     "log-every",
                                 "x",          "y",        "strategy",  "transport", "timeout", "tensor-ranks",
                                 "overlap",    "data-from"};
  for (const auto& [option, training] : table("effects")) {
    const std::string name = option.substr(2, option.find(' ') - 2);
    known.insert(name);
    // What all stages share is asked of the first.
    const bool is_own = !shared.contains(name) || name == "gemm";
    if (!offered.contains(name) || (!is_first && !is_own)) continue;
    std::string without = training + " ";
    std::string with = option;
    if (GetParam() == "ladder tf32" && name == "fuse") without = tiny_cnn + "--math own ";
    if (with.ends_with('%')) with.replace(with.size() - 1, 1, is_first ? "naive" : "tile-16");
    std::string& before = known_results[without];
    if (before.empty()) before = results_of(without);
    EXPECT_FALSE(results_of(without + with) == before) << with << " changes nothing";
  }
  for (const std::string& name : offered) {
    EXPECT_TRUE(known.contains(name)) << "train --" << name << ": what does it change?";
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, IdleOptions, testing::ValuesIn(programs_that_train()), name_of_program);

TEST_F(CommandLine, RefusesOptionsThatTheRunWouldContradict) {
  need_device("stage02_naive_cuda");
  if (IsSkipped()) return;
  for (const auto& [command, said] : table("contradictions")) {
    EXPECT_TRUE(expect_failure(command, 2, said).ends_with(": " + said + ".")) << command;
  }
}

/// The last option does not apply to the run, which goes on and says why not: once, even if there
/// are several processes.
TEST_F(CommandLine, NotesOnOptionsWithoutEffectAreOneSentence) {
  need_device("stage02_naive_cuda");
  if (IsSkipped()) return;
  write("table.csv", "a,y\n1,0\n2,1\n3,0\n4,1\n5,0\n");
  Sayings notes = table("notes");
#ifdef STAGEWISE_STAGE05
  const Sayings of_ranks = table("notes_of_ranks");
  notes.insert(notes.end(), of_ranks.begin(), of_ranks.end());
#endif
  const std::string instant = "--epochs 0 --train-limit 20 --test-limit 5 --batch-size 10 --precision float";
  for (const auto& [written, sentence] : notes) {
    const std::string command = std::regex_replace(written, std::regex("\\$instant"), instant);
    SCOPED_TRACE(command);
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 0);
    const std::size_t last = command.rfind("--");
    const std::string option = command.substr(last, command.find_first_of(" =", last) - last);
    EXPECT_EQ(outcome.err, program_of(command) + ": note: " + option + " has no effect here: it " + sentence + ".\n");
  }
}

/// An option without effect changes nothing, not even in the checkpoint.
TEST_F(CommandLine, OptionsWithoutEffectChangeNoBit) {
  const auto checkpoint_of = [&](const std::string& options) {
    EXPECT_EQ(run("stage01_serial train" + options + "--save a.h5").exit_code, 0) << options;
    return text("a.h5");
  };
  for (const auto& [options, idle] :
       Sayings{{tiny, "--average weights --average-every 7 "},
               {tiny, "--momentum 0.1 --beta1 0.2 --beta2 0.3 --epsilon 1e-60 "},
               {tiny, "--label x --data-dir none --save-every 2 "},
               {" --load digits.h5 --shuffle off --epochs 1 --batch-size 10 ", "--seed 11 "}}) {
    EXPECT_TRUE(checkpoint_of(options) == checkpoint_of(options + idle)) << idle;
  }
}

TEST_F(CommandLine, CheckpointsStoreWhatApplies) {
  const auto stored = [&](const std::string& options) {
    run_well("stage01_serial train " + options + " --epochs 1 --save a.h5");
    std::set<std::string> names;
    for (const auto& [name, value] : load_checkpoint(path("a.h5")).settings) names.insert(name);
    return names;
  };
  const std::set<std::string> of_digits = stored("--train-limit 10 --batch-size 5 --hidden 4");
  for (const std::string& name : words_of("features classes samples spacing deviation label format "
                                          "average average-every momentum beta1")) {
    EXPECT_FALSE(of_digits.contains(name)) << name;
  }
  for (const char* const name : {"hidden", "activation", "loss", "batch-size", "dataset"}) {
    EXPECT_TRUE(of_digits.contains(name)) << name;
  }
  run_well("stage01_serial train --resume a.h5 --epochs 2 --save b.h5");
  EXPECT_TRUE(stored(tiny_data + "--batch-size 5 --hidden 4").contains("features"));
  EXPECT_FALSE(stored("--dataset step --model neuron --batch-size 5").contains("hidden"));
}

TEST_F(CommandLine, ResumesCheckpointsThatStoreTooMuch) {
  run_well("stage01_serial train --train-limit 10 --batch-size 5 --hidden 4 --epochs 1 --save a.h5");
  Checkpoint old = load_checkpoint(path("a.h5"));
  for (const std::string& setting : words_of("features=10 classes=2 samples=60 spacing=1 deviation=1 label= format= "
                                             "average=gradients average-every=1")) {
    const std::size_t equals = setting.find('=');
    old.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  save_checkpoint(path("old.h5"), old);
  run_well("stage01_serial train --resume a.h5 --epochs 2 --save new2.h5");
  run_well("stage01_serial train --resume old.h5 --epochs 2 --save old2.h5");
  EXPECT_EQ(text("new2.h5"), text("old2.h5"));
}

}  // namespace
}  // namespace stagewise

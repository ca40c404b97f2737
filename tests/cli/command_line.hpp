/// @file
/// A test of the command line: a folder of its own, the project's programs by their names, and the
/// files that commands want to read.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/process.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {

namespace fs = std::filesystem;
using nlohmann::json;

/// A training that takes milliseconds.
inline const std::string short_training =
    "stage01_serial train --train-limit 60 --test-limit 20 --hidden 8 --batch-size 20";

/// The same training in batches of which the last is short, in double and without kinks, so that
/// all stages agree on its result to the last digits.
inline const std::string smooth_training =
    " train --train-limit 53 --test-limit 20 --hidden 8 --batch-size 20 --precision double "
    "--activation sigmoid ";

/// Programs that train as a stage does, with other kernels.
inline const std::vector<std::string> variants = {"ladder blocked",    "ladder rungs",    "ladder tf32",
                                                  "ladder persistent", "per_step_memory", "fold_bias"};

/// Commands, or what they end with, and what is said of them.
using Sayings = std::vector<std::pair<std::string, std::string>>;

/// Runs commands in a new folder, as `stage01_serial train --save model.h5`.
class CommandLine : public testing::Test {
 protected:
  CommandLine();

  /// Runs a command to its end. What it reads and is in the list of make_input() is made before.
  Outcome run(const std::string& command);
  Outcome run(const std::vector<std::string>& words);

  /// Runs a command that must succeed and say nothing on standard error.
  /// @return its standard output.
  std::string run_well(const std::string& command);

  /// Runs such a command and has it write a report.
  json report_of(const std::string& command);

  /// The options that a command's help names, without their dashes.
  std::set<std::string> options_of(const std::string& command);

  /// Skips the test where this stage needs a GPU and there is none. For SetUp().
  void need_device(const std::string& stage);

  /// Expects that the command fails with this exit code and one sentence on standard error, and
  /// that it leaves every file as it was; if it is wrong usage, it writes no output either. Where
  /// there are several processes, mpirun may say what it likes around the sentence, and rank 0
  /// before.
  /// @param said a part of the sentence; a "..." at its end stands for the rest.
  /// @return the sentence.
  std::string expect_failure(const std::string& command, int exit_code, const std::string& said);

  /// The same of many commands with one beginning.
  void expect_failures(const std::string& begin, int exit_code, const Sayings& sayings);

  /// A table of the folder tables/: commands, each with what is said of it in an indented line
  /// behind.
  static Sayings table(const std::string& name);

  /// Runs the commands of a table, one after the other. Those behind "1 " or "2 " must fail with
  /// this exit code, and the sentence in the first indented line is expected as by
  /// expect_failure(); where there is no such line, as of compare_checkpoints, they say nothing on
  /// standard error. All others are as run_well() expects. The other indented lines are lines of
  /// the output, once: a "..." at either end stands for the rest of the line, and "not " is in
  /// front of what no line has.
  void run_table(const std::string& name);

  /// Expects that two checkpoints have the same parameters up to a relative difference.
  void expect_same(const std::string& a, const std::string& b, const std::string& tolerance = "0");

  /// Expects that two files are there and have the same contents.
  void expect_same_bytes(const std::string& a, const std::string& b);

  /// Path and arguments, also of the system's programs, as cmp. In "mpirun -n 2 stage05_mpi train"
  /// both programs get their paths, as in "mpirun -n 2 grade", and more processes may be started
  /// than there are cores.
  static std::vector<std::string> resolve(const std::string& command);

  /// Makes one of the files that tests like to name, if `name` is one and is not there yet:
  /// digits.h5    of the default model, in float, after 2 epochs of short_training
  /// double.h5    the same in double
  /// neuron.h5    of --model neuron on --dataset step
  /// many.h5      of 1,001 classes
  /// other.h5     of another project: parameters and nothing else
  /// nan.h5       digits.h5 with a NaN in it
  /// cut.h5, text.h5, empty.h5   no checkpoints
  /// folder, fifo, locked (a folder), locked.h5    not to be written to
  /// digits       a folder with data in IDX format: 50 training and 20 test images
  void make_input(const std::string& name);

  fs::path path(const std::string& name) const { return folder_ / name; }
  std::string text(const std::string& name) const;
  void write(const std::string& name, const std::string& text) const;

  /// All regular files in the test's folder.
  std::map<std::string, Bytes> files() const;

  Surroundings surroundings_;
  Outcome last_;  ///< of the program that ran last

 private:
  /// Gives the next program a folder of its own for what Open MPI puts into TMPDIR: in a shared
  /// one, a program that ends removes folders that another is about to use.
  void renew_temporary_folder();

  TemporaryFolder folder_;
  TemporaryFolder temporary_;
  int programs_ = 0;
};

/// What a command's program calls itself, behind "mpirun -n 2", too: "stage01_serial", or, where a
/// ladder trains, "ladder rungs".
std::string program_of(const std::string& command);

/// The lines of a text, without their line breaks.
std::vector<std::string> lines_of(const std::string& text);

/// Expects that no line is too wide for a terminal of 80 columns.
void expect_narrow(const std::string& output);

/// Expects lines as a table writes them.
void expect_lines(const std::string& output, const std::vector<std::string>& lines);

/// How often a text has this part.
int count(const std::string& text, const std::string& part);

/// What GoogleTest allows as a test's name: `text` with underscores for its dashes and spaces.
std::string test_name(std::string text);

/// The names of the stages' programs; stage 05's only where it is tested.
std::vector<std::string> stages();

/// These, and the variants.
std::vector<std::string> programs_that_train();

/// A test of each of some programs.
class EachProgram : public CommandLine, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { need_device(GetParam()); }
};

inline std::string name_of_program(const testing::TestParamInfo<std::string>& program) {
  return test_name(program.param);
}

/// The part of `text` between `before` and `after`; fails the test if they are not there.
std::string between(const std::string& text, const std::string& before, const std::string& after);

}  // namespace stagewise

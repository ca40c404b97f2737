/// @file
/// A test of the command line: a folder of its own, the project's programs by their names, and the
/// files that commands want to read.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/process.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {

/// Whether programs and tests are compiled with AddressSanitizer, under which everything takes
/// several times as long and as much memory.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// A training that takes milliseconds.
inline const std::string short_training =
    "stage01_serial train --train-limit 60 --test-limit 20 --hidden 8 --batch-size 20";

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
  nlohmann::json report_of(const std::string& command);

  /// Skips the test where this stage needs a GPU and there is none. For SetUp().
  void need_device(const std::string& stage);

  /// Expects that the command fails with this exit code and this one sentence on standard error.
  /// @param sentence without the program's name and the period, but with a question mark; what
  ///        follows a "..." at its end is left open.
  void expect_failure(const std::string& command, int exit_code, const std::string& sentence);

  /// Path and arguments. In "mpirun -n 2 stage05_mpi train" both programs get their paths, as in
  /// "mpirun -n 2 grade", and more processes may be started than there are cores.
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

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  std::string text(const std::string& name) const;

  Surroundings surroundings_;

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

/// What GoogleTest allows as a test's name: `text` with underscores for its dashes and spaces.
std::string test_name(std::string text);

/// The names of the stages' programs; stage 05's only where it is tested.
std::vector<std::string> stages();

/// The part of `text` between `before` and `after`; fails the test if they are not there.
std::string between(const std::string& text, const std::string& before, const std::string& after);

}  // namespace stagewise

// Places that results cannot go to: noticed before training starts, and never at the cost of what
// is there. They never replace what a run reads, by whatever name; and nothing is written that was
// not asked for.

#include <csignal>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

class Outputs : public CommandLine {};

/// Which begins with a line that names the program.
TEST_F(Outputs, AreRefusedBeforeWork) {
  surroundings_.heeds_permissions = true;
  run_table("places");
}

/// In a shell's blocks of 512 bytes.
std::string with_files_up_to(int blocks) { return "ulimit -f " + std::to_string(blocks) + "; exec \"$@\""; }

TEST_F(Outputs, OnAFullDiskLeaveTheOldOnes) {
  make_input("digits.h5");
  make_input("digits");
  write("report.json", "{}");
  surroundings_.shell = with_files_up_to(20);  // half of such a checkpoint
  const std::string sentence = " cannot be written: File too large";
  expect_failures(
      short_training + " --seed 2 --save ", 1,
      {{"digits.h5", "the checkpoint digits.h5" + sentence}, {"new.h5", "the checkpoint new.h5" + sentence}});
  surroundings_.shell = with_files_up_to(100);  // as much as 60 images take
  expect_failure("make_dataset --train 100 --test 10 --output digits", 1,
                 "the images digits/train-images-idx3-ubyte" + sentence);
  surroundings_.shell = with_files_up_to(1);
  expect_failure("stage01_serial evaluate --load digits.h5 --latency --report report.json", 1,
                 "the report report.json" + sentence);
}

TEST_F(Outputs, ThatAreLostAreReported) {
  make_input("digits.h5");
  for (const std::string shell : {"exec \"$@\" >&-", "exec \"$@\" >/dev/full"}) {
    fs::remove(path("lost.h5"));
    surroundings_.shell = shell;
    for (const std::string& command : {short_training, std::string("stage01_serial info"),
                                       std::string("stage01_serial --help"), std::string("make_dataset --version")}) {
      expect_failure(command, 1, "standard output could not be written to");
    }
    EXPECT_EQ(run(short_training + " --epochs 2 --save-every 1 --save lost.h5").exit_code, 1);
    surroundings_.shell = "";
    expect_same("lost.h5", "digits.h5");
  }
}

/// As `COMMAND | head -1` ends, once head has had enough.
TEST_F(Outputs, ThatNobodyReadsEndTheProgramWithoutAWord) {
  make_input("digits.h5");
  surroundings_.shell = "test -p p || mkfifo p; exec 3<>p; exec \"$@\" >p 3<&-";
  surroundings_.longest_run = 60;
  for (const std::string& command :
       {std::string("stage01_serial info"), std::string("make_dataset --version"),
        short_training + " --epochs 1000000000", short_training + " --epochs 2 --save kept.h5",
        short_training + " --epochs 2 --report kept.json"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.signal, SIGPIPE) << command << ": exit code " << outcome.exit_code;
    EXPECT_EQ(outcome.err, "") << command;
  }
  expect_contains(text("kept.json"), "\"test_loss\"");
  expect_failure("stage01_serial train --load none.h5", 1, "there is no such file");
  surroundings_.shell = "";
  expect_same("kept.h5", "digits.h5");
}

// ------------------------------------------------------------- what a run reads, and others

/// Files of a data set, by whatever name, and those that would be read from now on, are not
/// replaced; those of a checkpoint only by the training that goes on in it. What is refused before
/// and after it is seen whether a file can be written makes none, a data set is made as a whole or
/// not at all, a link stays one, and files of others with names like those of files to be stay as
/// they are.
TEST_F(Outputs, LeaveFilesAlone) { run_table("own_files"); }

}  // namespace
}  // namespace stagewise

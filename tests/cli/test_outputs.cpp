// Places that results cannot go to: noticed before training starts, and never at the cost of what
// is there.

#include <csignal>
#include <string>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

struct Place {
  const char* name;
  const char* target;
  const char* reason;  ///< {} stands for the test's folder
};

class Unwritable : public CommandLine, public testing::WithParamInterface<Place> {
 protected:
  void expect_refused(const std::string& command, const std::string& what) {
    surroundings_.heeds_permissions = true;
    const std::string target = GetParam().target;
    std::string reason = GetParam().reason;
    const std::size_t gap = reason.find("{}");
    if (gap != std::string::npos) {
      reason.replace(gap, 2, fs::canonical(surroundings_.folder).string());
    }
    const std::string whole = command + " " + target;
    expect_failure(whole, 1, "the " + what + " " + target + " cannot be written: " + reason);
    EXPECT_EQ(run(whole).out, "") << "the training had begun";
  }
};

TEST_P(Unwritable, CheckpointIsRefusedBeforeTraining) {
  expect_refused(short_training + " --save", "checkpoint");
}

TEST_P(Unwritable, ReportIsRefusedBeforeTraining) {
  expect_refused(short_training + " --report", "report");
}

TEST_P(Unwritable, BestCheckpointIsRefusedBeforeTraining) {
  expect_refused(short_training + " --validation 20 --save-best", "checkpoint");
}

TEST_P(Unwritable, TableIsRefusedBeforeWork) {
  expect_refused(short_training + " --csv", "table");
  expect_refused("stage01_serial evaluate --load digits.h5 --confusion --csv", "table");
  expect_refused("stage01_serial predict --load digits.h5 --csv", "table");
}

TEST_P(Unwritable, ReportIsRefusedBeforeEvaluation) {
  expect_refused("stage01_serial evaluate --load digits.h5 --report", "report");
}

INSTANTIATE_TEST_SUITE_P(
    Places, Unwritable,
    testing::Values(Place{"folder", "folder", "it is a folder"},
                    Place{"missing_folder", "none/file", "there is no folder {}/none"},
                    Place{"below_a_file", "text.h5/file", "there is no folder {}/text.h5"},
                    Place{"device", "/dev/null", "it is not a regular file"},
                    Place{"fifo", "fifo", "it is not a regular file"},
                    Place{"locked_folder", "locked/file", "Permission denied"},
                    Place{"locked_file", "locked.h5", "Permission denied"},
                    Place{"system", "/proc/file", "No such file or directory"}),
    [](const auto& test) { return std::string(test.param.name); });

class FullDisk : public CommandLine {
 protected:
  FullDisk() {
    make_input("digits.h5");
    surroundings_.largest_file = 10000;  // half of such a checkpoint
  }
};

TEST_F(FullDisk, LeavesTheOldCheckpoint) {
  const Bytes before = read_file(path("digits.h5"));
  ASSERT_GT(before.size(), 20000U);
  expect_failure(short_training + " --seed 2 --save digits.h5", 1,
                 "the checkpoint digits.h5 cannot be written: File too large");
  EXPECT_EQ(read_file(path("digits.h5")), before);
  EXPECT_EQ(partial_file_in(path("")), "");
}

TEST_F(FullDisk, LeavesNoHalfCheckpoint) {
  expect_failure(short_training + " --save new.h5", 1,
                 "the checkpoint new.h5 cannot be written: File too large");
  EXPECT_FALSE(fs::exists(path("new.h5")));
  EXPECT_EQ(partial_file_in(path("")), "");
}

TEST_F(FullDisk, LeavesTheOldReport) {
  surroundings_.largest_file = 400;
  write_file(path("report.json"), {'{', '}'});
  expect_failure("stage01_serial evaluate --load digits.h5 --latency --report report.json", 1,
                 "the report report.json cannot be written: File too large");
  EXPECT_EQ(text("report.json"), "{}");
}

TEST_F(FullDisk, LeavesTheOldDataSet) {
  surroundings_.largest_file.reset();
  make_input("digits");
  surroundings_.largest_file = 50000;  // as much as 60 images take
  const Bytes before = read_file(path("digits/train-images-idx3-ubyte"));
  expect_failure("make_dataset --train 100 --test 10 --output digits", 1,
                 "the images digits/train-images-idx3-ubyte cannot be written: File too large");
  EXPECT_EQ(read_file(path("digits/train-images-idx3-ubyte")), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("digits")), fs::directory_iterator()), 4);
}

class LostOutput : public CommandLine, public testing::WithParamInterface<const char*> {
 protected:
  LostOutput() {
    surroundings_.closed_standard_output = GetParam() == std::string("closed");
    if (!surroundings_.closed_standard_output) surroundings_.standard_output = "/dev/full";
  }
};

TEST_P(LostOutput, IsReported) {
  for (const std::string& command :
       {short_training, std::string("stage01_serial info"), std::string("stage01_serial --help"),
        std::string("stage01_serial train --help"), std::string("make_dataset --version"),
        std::string("make_dataset --train 5 --test 5 --output x")}) {
    expect_failure(command, 1, "standard output could not be written to");
  }
}

TEST_P(LostOutput, DoesNotSpoilTheCheckpoint) {
  run(CommandLine::resolve(short_training + " --epochs 2 --save-every 1 --save lost.h5"));
  surroundings_.closed_standard_output = false;
  surroundings_.standard_output.clear();
  run_well("compare_checkpoints --tolerance 0 lost.h5 digits.h5");
}

INSTANTIATE_TEST_SUITE_P(Output, LostOutput, testing::Values("closed", "full"),
                         [](const auto& test) { return std::string(test.param); });

class BrokenPipe : public CommandLine {
 protected:
  BrokenPipe() { surroundings_.broken_pipe = true; }

  /// As `COMMAND | head -1` ends, once head has had enough.
  void expect_quiet_end(const std::string& command) {
    const Outcome outcome = run(resolve(command));
    EXPECT_EQ(outcome.signal, SIGPIPE) << command << ": exit code " << outcome.exit_code;
    EXPECT_EQ(outcome.err, "") << command;
  }
};

TEST_F(BrokenPipe, EndsWithoutAWord) {
  for (const std::string command :
       {"stage01_serial info", "stage01_serial --help", "make_dataset --version"}) {
    expect_quiet_end(command);
  }
}

TEST_F(BrokenPipe, EndsATrainingThatOnlyPrints) {
  surroundings_.longest_run = 60;
  expect_quiet_end(short_training + " --epochs 1000000000");
}

TEST_F(BrokenPipe, LosesNoCheckpointAndNoReport) {
  expect_quiet_end(short_training + " --epochs 2 --save kept.h5");
  expect_quiet_end(short_training + " --epochs 2 --report kept.json");
  surroundings_.broken_pipe = false;
  run_well("compare_checkpoints --tolerance 0 kept.h5 digits.h5");
  EXPECT_NE(text("kept.json").find("\"test_loss\""), std::string::npos);
}

TEST_F(BrokenPipe, HidesNoFailure) {
  expect_failure("stage01_serial train --load none.h5", 1,
                 "the checkpoint none.h5 cannot be read: there is no such file");
}

TEST_F(CommandLine, SavesThroughALink) {
  make_input("folder");
  fs::create_symlink("folder/real.h5", path("link.h5"));
  run_well(short_training + " --save link.h5");
  EXPECT_TRUE(fs::is_symlink(path("link.h5")));
  EXPECT_TRUE(fs::is_regular_file(path("folder/real.h5")));
  EXPECT_EQ(load_checkpoint(path("link.h5")).epoch, 5);
}

}  // namespace
}  // namespace stagewise

// Places that results cannot go to: noticed before training starts, and never at the cost of what
// is there. They never replace what a run reads, by whatever name; and nothing is written that was
// not asked for.

#include <csignal>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

class Outputs : public CommandLine {};

/// Which begins with a line that names the program.
TEST_F(Outputs, AreRefusedBeforeWork) {
  surroundings_.heeds_permissions = true;
  run_table("places");
}

/// In a shell's blocks of 512 bytes.
std::string with_files_up_to(int blocks) {
  return "ulimit -f " + std::to_string(blocks) + "; exec \"$@\"";
}

TEST_F(Outputs, OnAFullDiskLeaveTheOldOnes) {
  make_input("digits.h5");
  make_input("digits");
  write("report.json", "{}");
  surroundings_.shell = with_files_up_to(20);  // half of such a checkpoint
  const std::string sentence = " cannot be written: File too large";
  expect_failures(short_training + " --seed 2 --save ", 1,
                  {{"digits.h5", "the checkpoint digits.h5" + sentence},
                   {"new.h5", "the checkpoint new.h5" + sentence}});
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
    for (const std::string& command :
         {short_training, std::string("stage01_serial info"), std::string("stage01_serial --help"),
          std::string("make_dataset --version")}) {
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

TEST_F(Outputs, GoThroughALink) {
  make_input("folder");
  fs::create_symlink("folder/real.h5", path("link.h5"));
  run_well(short_training + " --save link.h5");
  EXPECT_TRUE(fs::is_symlink(path("link.h5")));
  EXPECT_EQ(load_checkpoint(path("folder/real.h5")).epoch, 5);
}

// --------------------------------------------------------------------- what a run reads, and
// others

class OwnFiles : public CommandLine {
 protected:
  const std::string train = "stage01_serial train --epochs 1 --hidden 4 --batch-size 10 ";
  const std::string of_data = " names a file of --dataset, ";
};

TEST_F(OwnFiles, OfADataSetAreNotReplaced) {
  run_well("make_dataset --train 40 --test 20 --output mnist");
  run_well("make_dataset --train 40 --test 20 --output tables --dataset step");
  fs::create_symlink("mnist/train-images-idx3-ubyte", path("soft"));
  fs::create_symlink("soft", path("images"));
  fs::copy_file(path("mnist/train-labels-idx1-ubyte"), path("labels"));
  fs::create_hard_link(path("mnist/train-images-idx3-ubyte"), path("hard"));
  fs::create_directory_symlink(".", path("up"));
  for (const std::string name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                 "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    expect_failure(train + "--data-dir . --dataset mnist --save mnist/" + name, 2,
                   "--save" + of_data + "./mnist/" + name);
  }
  const std::string images = "mnist/train-images-idx3-ubyte";
  const std::string labels = "mnist/train-labels-idx1-ubyte";
  expect_failures(
      train + "--format idx --dataset ", 2,
      {{images + " --report " + labels, "--report" + of_data + labels},
       {images + " --save hard", "--save" + of_data + images},
       {images + " --save up/mnist/../soft", "--save" + of_data + images},
       {"images --save " + images, "--save" + of_data + "images"}});  // its link is read
  expect_failure(
      train + "--format csv --label label --dataset tables/train.csv --csv tables/train.csv", 2,
      "--csv" + of_data + "tables/train.csv");

  fs::create_directory(path("compressed"));
  fs::rename(path("mnist"), path("compressed/mnist"));
  for (const auto& [file, bytes] : files()) {  // whose names tell nothing of what is in them
    if (fs::path(file).parent_path() == path("compressed/mnist")) fs::rename(file, file + ".gz");
  }
  const std::string packed = "compressed/" + labels;
  expect_failures(train + "--dataset mnist --data-dir compressed --save ", 2,
                  {{packed + ".gz", "--save" + of_data + packed + ".gz"},
                   {packed, "--save" + of_data + packed},  // it would be read from now on
                   {"up/" + packed, "--save" + of_data + packed}});
}

TEST_F(OwnFiles, OfACheckpointAreReplacedOnlyByTheTrainingThatGoesOnInIt) {
  run_well("make_dataset --train 40 --test 20 --output . --dataset step");
  run_well(train + "--dataset train.csv --format csv --label label --save table.h5");
  fs::create_symlink("train.csv", path("link"));
  for (const std::string name : {"train.csv", "link"}) {
    const std::string sentence = " names a file of the checkpoint's data set, train.csv";
    expect_failures("stage01_serial ", 2,
                    {{"evaluate --load table.h5 --report " + name, "--report" + sentence},
                     {"train --resume table.h5 --save " + name, "--save" + sentence},
                     {"train --load table.h5 --save " + name, "--save" + sentence}});
  }
  make_input("digits.h5");
  fs::create_symlink("digits.h5", path("soft.h5"));
  fs::create_hard_link(path("digits.h5"), path("hard.h5"));
  for (const std::string name : {"digits.h5", "soft.h5", "hard.h5"}) {
    expect_failures(
        "stage01_serial train ", 2,
        {{"--load digits.h5 --save " + name, "--load and --save name the same file, digits.h5"},
         {"--resume digits.h5 --report " + name, "--resume and --report name the same file, ..."}});
  }
  run_well("stage01_serial train --resume digits.h5 --epochs 3 --save digits.h5");
}

TEST_F(OwnFiles, OfOthersAreNeitherReplacedNorRemoved) {
  const std::vector<std::string> names = {"new.h5.partial", ".new.h5.partial",
                                          ".new.h5.aaaaaa.partial"};
  for (const std::string& name : names) write(name, "ours");
  run_well(short_training + " --epochs 1 --save new.h5");
  for (const std::string& name : names) EXPECT_EQ(text(name), "ours") << name;
  // Refused before and after it is seen whether the file can be written.
  expect_failures("stage01_serial train --train-limit 60 --save newer.h5 ", 2,
                  {{"--epochs -1", "--epochs: ..."}, {"--batch-size 61", "--batch-size 61 ..."}});
}

TEST_F(OwnFiles, AreMadeAsAWholeOrNotAtAll) {
  fs::create_directories(path("folders/t10k-labels-idx1-ubyte"));
  fs::create_directory(path("links"));
  fs::create_symlink("train-labels-idx1-ubyte", path("links/t10k-labels-idx1-ubyte"));
  expect_failures(
      "make_dataset --train 5 --test 5 --output ", 1,
      {{"folders", "the file folders/t10k-labels-idx1-ubyte cannot be written: it is a"},
       {"links", "it is the same file as links/train-labels-idx1-ubyte"}});
}

}  // namespace
}  // namespace stagewise

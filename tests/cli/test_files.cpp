// Results never replace what a run reads, by whatever name; and nothing is written that was not
// asked for.

#include <fstream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// What lies in the test's folder:
/// mnist          the four files of MNIST, in small
/// compressed/mnist      the same, with names that end in .gz
/// table.csv, table.h5   a table and a checkpoint that was trained on it
/// soft, hard     links to mnist/train-images-idx3-ubyte
/// up             a link to the folder itself
class OwnFiles : public CommandLine {
 protected:
  OwnFiles() {
    const std::string make = "make_dataset --train 40 --test 20 --output ";
    run_well(make + "mnist");
    run_well(make + "compressed/mnist");
    for (const fs::path& file : files_in("compressed/mnist")) {
      fs::rename(file, file.string() + ".gz");  // which tells nothing of what is in it
    }
    run_well(make + "tables --dataset step");
    fs::rename(path("tables/train.csv"), path("table.csv"));
    run_well(
        "stage01_serial train --dataset table.csv --format csv --label label --epochs 1 "
        "--hidden none --batch-size 10 --save table.h5");
    fs::create_symlink("mnist/train-images-idx3-ubyte", path("soft"));
    fs::create_hard_link(path("mnist/train-images-idx3-ubyte"), path("hard"));
    fs::create_directory_symlink(".", path("up"));
  }

  std::vector<fs::path> files_in(const std::string& folder) const {
    const fs::directory_iterator begin(path(folder));
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : begin) files.push_back(entry.path());
    return files;
  }

  /// The command is wrong usage, and the file that it names last stays as it is: absent, or whole.
  void expect_refused(const std::string& command, const std::string& sentence) {
    const fs::path target = path(command.substr(command.rfind(' ') + 1));
    const bool is_there = fs::exists(target);
    const Bytes before = is_there ? read_file(target) : Bytes();
    expect_failure(command, 2, sentence);
    EXPECT_EQ(fs::exists(target), is_there) << command;
    EXPECT_EQ(is_there ? read_file(target) : Bytes(), before) << command;
  }

  const std::string train = "stage01_serial train --epochs 1 --hidden 4 --batch-size 10 ";
  const std::string of_idx = "--format idx --dataset mnist/train-images-idx3-ubyte ";
};

TEST_F(OwnFiles, DataSetIsNotReplaced) {
  for (const std::string result : {"--save", "--report"}) {
    for (const std::string name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                   "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
      expect_refused(train + "--data-dir . --dataset mnist " + result + " mnist/" + name,
                     result + " names a file of --dataset, ./mnist/" + name);
    }
    expect_refused(train + of_idx + result + " mnist/train-labels-idx1-ubyte",
                   result + " names a file of --dataset, mnist/train-labels-idx1-ubyte");
    expect_refused(
        train + "--format csv --label label --dataset table.csv " + result + " table.csv",
        result + " names a file of --dataset, table.csv");
  }
}

TEST_F(OwnFiles, DataSetIsNotReplacedByOtherNames) {
  const std::string sentence = "--save names a file of --dataset, mnist/train-images-idx3-ubyte";
  for (const std::string name : {"soft", "hard", "up/mnist/../soft", "up/up/hard",
                                 "./mnist/../mnist/train-images-idx3-ubyte"}) {
    expect_refused(train + of_idx + "--save " + name, sentence);
  }
  // Nor are the links read and their file written.
  fs::copy_file(path("mnist/train-labels-idx1-ubyte"), path("labels"));
  fs::create_symlink("soft", path("images"));
  expect_refused(train + "--format idx --dataset images --save mnist/train-images-idx3-ubyte",
                 "--save names a file of --dataset, images");
}

TEST_F(OwnFiles, DataSetIsNotReplacedNorHiddenWhereItsFilesAreCompressed) {
  const std::string command = train + "--dataset mnist --data-dir compressed --save ";
  const std::string sentence = "--save names a file of --dataset, ";
  const std::string labels = "compressed/mnist/train-labels-idx1-ubyte";
  expect_refused(command + labels + ".gz", sentence + labels + ".gz");
  expect_refused(command + labels, sentence + labels);  // it would be read from now on
  expect_refused(command + "up/" + labels, sentence + labels);
}

TEST_F(OwnFiles, DataSetOfTheCheckpointIsNotReplaced) {
  const std::string sentence = " names a file of the checkpoint's data set, table.csv";
  fs::create_symlink("table.csv", path("link"));
  for (const std::string name : {"table.csv", "link"}) {
    expect_refused("stage01_serial evaluate --load table.h5 --report " + name,
                   "--report" + sentence);
    expect_refused("stage01_serial train --resume table.h5 --save " + name, "--save" + sentence);
    expect_refused("stage01_serial train --load table.h5 --batch-size 10 --save " + name,
                   "--save" + sentence);
  }
}

TEST_F(OwnFiles, CheckpointIsReplacedOnlyByTheTrainingThatGoesOnInIt) {
  fs::create_symlink("digits.h5", path("soft.h5"));
  make_input("digits.h5");
  fs::create_hard_link(path("digits.h5"), path("hard.h5"));
  for (const std::string name : {"digits.h5", "soft.h5", "hard.h5"}) {
    expect_refused(short_training + " --load digits.h5 --save " + name,
                   "--load and --save name the same file, digits.h5");
    expect_refused("stage01_serial train --resume digits.h5 --report " + name,
                   "--resume and --report name the same file, digits.h5");
  }
  run_well("stage01_serial train --resume digits.h5 --epochs 3 --save digits.h5");
  expect_refused(short_training + " --save new --report up/new",
                 "--save and --report name the same file, new");
}

TEST_F(OwnFiles, OfOthersAreNeitherReplacedNorRemoved) {
  for (const std::string name : {"new.h5.partial", ".new.h5.partial", ".new.h5.aaaaaa.partial"}) {
    write_file(path(name), {'o', 'u', 'r', 's'});
  }
  run_well(short_training + " --epochs 1 --save new.h5");
  // Refused before and after it is seen whether the file can be written.
  expect_failure(short_training + " --save new.h5 --epochs -1", 2, "--epochs: ...");
  expect_failure("stage01_serial train --train-limit 60 --batch-size 61 --save new.h5", 2,
                 "--batch-size 61 ...");
  for (const std::string name : {"new.h5.partial", ".new.h5.partial", ".new.h5.aaaaaa.partial"}) {
    EXPECT_EQ(text(name), "ours") << name;
  }
}

TEST_F(OwnFiles, DataSetsAreNotMadeInOnePlaceOnly) {
  fs::create_directory(path("new"));
  fs::create_symlink("train-labels-idx1-ubyte", path("new/t10k-labels-idx1-ubyte"));
  expect_failure("make_dataset --train 5 --test 5 --output new", 1,
                 "the file new/t10k-labels-idx1-ubyte cannot be written: it is the same file as "
                 "new/train-labels-idx1-ubyte");
  EXPECT_EQ(files_in("new").size(), 1U);
}

TEST_F(OwnFiles, DataSetsAreMadeAsAWholeOrNotAtAll) {
  fs::create_directory(path("mnist/other"));
  fs::rename(path("mnist/other"), path("new"));
  fs::create_directory(path("new/t10k-labels-idx1-ubyte"));
  expect_failure("make_dataset --train 5 --test 5 --output new", 1,
                 "the file new/t10k-labels-idx1-ubyte cannot be written: it is a folder");
  EXPECT_EQ(files_in("new").size(), 1U) << "the training set was written before";
}

TEST_F(OwnFiles, CheckpointIsNotReplacedByItsMatrices) {
  make_input("digits.h5");
  fs::create_directory(path("net"));
  fs::create_symlink("../digits.h5", path("net/w1.data"));
  const Bytes before = read_file(path("digits.h5"));
  expect_failure("matrix_files --export net digits.h5", 2,
                 "the matrix net/w1.data cannot be written: it is the same file as the checkpoint "
                 "digits.h5");
  EXPECT_EQ(read_file(path("digits.h5")), before);
  fs::remove(path("net/w1.data"));
  fs::create_symlink("w2.data", path("net/w1.data"));
  expect_failure("matrix_files --export net digits.h5", 2, "the matrix net/w2.data ...");
  EXPECT_EQ(files_in("net").size(), 1U);
}

}  // namespace
}  // namespace stagewise

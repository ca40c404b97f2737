// Results never replace what a run reads, by whatever name; and nothing is written that was not
// asked for.

#include <string>

#include "cli/command_line.hpp"

namespace stagewise {
namespace {

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

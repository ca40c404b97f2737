// A training goes on with the data that it began with, or says what is another about them.

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

class SameData : public CommandLine {
 protected:
  SameData() { write_table("table.csv", rows); }

  /// A table of two features and a class.
  void write_table(const std::string& name, const std::string& text,
                   const std::string& header = "height,width,kind") const {
    write(name, header + '\n' + text);
  }

  /// Trains for an epoch on table.csv and saves table.h5.
  void train_on_table(const std::string& options = "") { run_well(train + options); }

  void expect_no_resumption(const std::string& difference) {
    expect_failure("stage01_serial train --resume table.h5 --epochs 2", 1,
                   "the checkpoint table.h5 was trained on other data than table.csv: " + difference);
  }

  const std::string rows = "1,10,b\n2,20,a\n3,35,a\n4,40,b\n5,55,a\n6,60,b\n7,70,a\n8,80,b\n";
  const std::string of_table = "--dataset table.csv --format csv --label kind ";
  const std::string train = "stage01_serial train --hidden 3 --batch-size 3 --epochs 1 --save table.h5 " + of_table;
};

TEST_F(SameData, IsWhatATrainingGoesOnWith) {
  train_on_table();
  const std::string output = run_well("stage01_serial train --resume table.h5 --epochs 2");
  EXPECT_EQ(count(output, "\nnote"), 0) << output;
  // Where the file lies, how it is named, and whether it is the same to the last byte, is no
  // matter.
  fs::create_directory(path("elsewhere"));
  write_table("elsewhere/t.txt", rows + "\n\n", " height ,\"width\",kind");
  run_well("stage01_serial train --resume table.h5 --epochs 2 --format csv --dataset elsewhere/t.txt");
}

TEST_F(SameData, IsTheSameInEveryPrecisionAndWithEveryOptionThatConcernsNone) {
  std::vector<std::map<std::string, std::string>> fingerprints;
  for (const std::string options :
       {"", "--precision double ", "--seed 7 --shuffle off ", "--test-limit 1 ", "--workers 2 "}) {
    train_on_table(options);
    const Checkpoint checkpoint = load_checkpoint(path("table.h5"));
    auto& fingerprint = fingerprints.emplace_back();
    for (const auto& [name, value] : checkpoint.settings) {
      if (name.starts_with("data-")) fingerprint[name] = value;
    }
  }
  EXPECT_EQ(fingerprints[0].size(), 4U);
  for (const auto& fingerprint : fingerprints) EXPECT_EQ(fingerprint, fingerprints[0]);
}

TEST_F(SameData, IsAskedForAndWhatDiffersIsSaid) {
  train_on_table();
  const std::string header = "height,width,kind\n";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = rows;
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
    return text;
  };
  const std::string others = "the samples have other ";
  for (const auto& [other, difference] :
       Sayings{{header + with("35", "36"), others + "values"},
               {header + with("3,35,a", "3,35,b"), others + "labels"},
               {header + with("3,35,a", "3,35.000001,b"), others + "values, " + others + "labels"},
               {header + "2,20,a\n1,10,b\n" + rows.substr(14), others + "values, " + others + "..."},
               {header + rows + "9,90,a\n10,100,b\n11,110,a\n", "the number of training samples is 9 and was 7"},
               {header + with("4,40,b", "4,40,c"), "the number of classes is 3 and was 2, " + others + "labels"},
               {header + with("b", "c"), "class 1 is 'c' and was 'b'"},
               {"height,depth,kind\n" + rows, "column 2 is 'depth' and was 'width'"},
               {"width,height,kind\n10,1,b\n20,2,a\n35,3,a\n40,4,b\n55,5,a\n60,6,b\n70,7,a\n80,8,b\n",
                "column 1 is 'width' and was 'height', " + others + "values"},
               {"height,width,depth,kind\n1,10,0,b\n2,20,0,a\n3,35,0,a\n4,40,0,b\n",
                "the number of columns is 3 and was 2, ..."}}) {
    write("table.csv", other);
    expect_no_resumption(difference);
  }
}

TEST_F(SameData, IsPreparedInTheSameWay) {
  train_on_table();
  Checkpoint checkpoint = load_checkpoint(path("table.h5"));
  checkpoint.settings.at("data-preparation") = "used as they are";
  save_checkpoint(path("table.h5"), checkpoint);
  expect_no_resumption("features are standardized and were used as they are");
}

TEST_F(SameData, IsNotAskedForWhereACheckpointDoesNotTell) {
  train_on_table();
  Checkpoint checkpoint = load_checkpoint(path("table.h5"));
  std::erase_if(checkpoint.settings, [](const auto& setting) { return setting.first.starts_with("data-"); });
  save_checkpoint(path("table.h5"), checkpoint);
  expect_contains(run_well("stage01_serial train --resume table.h5 --epochs 2"),
                  "\nnote   the checkpoint does not say what data it was trained on, so they may differ\n");
}

/// Tables, and images, of which Fingerprint.ChangesWithEveryPixel looks at each.
TEST_F(SameData, IsTakenFromTheCheckpoint) {
  train_on_table();
  write_table("other.csv", rows + "9,90,a\n10,100,b\n11,110,a\n");
  run_table("same_data");
}

TEST_F(SameData, MustFitTheParametersToStartFrom) {
  train_on_table();
  const std::string load = "stage01_serial train --load table.h5 --batch-size 3 --epochs 1";
  const std::string sentence = "the parameters of the checkpoint table.h5 do not fit table.csv: ";
  write_table("table.csv", rows, "width,height,kind");
  expect_failure(load, 1, sentence + "column 1 is 'width' and was 'height'");
  write_table("table.csv", "1,10,b\n2,20,a\n3,35,c\n4,40,b\n");
  expect_failure(load, 1, sentence + "the number of classes is 3 and was 2");
  write_table("table.csv", "1,10,b\n2,20,c\n3,35,c\n4,40,b\n");
  expect_failure(load, 1, sentence + "class 0 is 'b' and was 'a'");
}

}  // namespace
}  // namespace stagewise

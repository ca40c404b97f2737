// compare_checkpoints, make_dataset, and Python: other ways to look at what was written.

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command_line.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

class Compare : public CommandLine {
 protected:
  /// Saves a copy of double.h5 with one value of fc1/weight changed.
  void save_changed(const std::string& name, Index row, Index column, double factor) {
    make_input("double.h5");
    Checkpoint checkpoint = load_checkpoint(path("double.h5"));
    ParameterValues& weight = checkpoint.parameters.at(1);
    ASSERT_EQ(weight.name, "fc1/weight");
    weight.values.at(static_cast<std::size_t>(row * weight.shape[1] + column)) *= factor;
    save_checkpoint(path(name), checkpoint);
  }

  std::string compare(const std::string& arguments, int exit_code) {
    const Outcome outcome = run("compare_checkpoints " + arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.err, "");
    for (const std::string& line : lines_of(outcome.out)) EXPECT_LE(line.size(), 80U) << line;
    return outcome.out;
  }
};

TEST_F(Compare, FindsAFileEqualToItself) {
  const std::string output = compare("double.h5 double.h5 --tolerance 0", 0);
  EXPECT_EQ(lines_of(output).size(), 6U) << output;
  EXPECT_NE(output.find("\nwithin 0: double.h5 and double.h5\n"), std::string::npos) << output;
}

TEST_F(Compare, NamesThePlaceOfADifference) {
  save_changed("changed.h5", 300, 5, 1.5);
  const std::string output = compare("double.h5 changed.h5", 1);
  EXPECT_NE(output.find("[300, 5]: "), std::string::npos) << output;
  EXPECT_NE(output.find(", off by "), std::string::npos) << output;
  EXPECT_NE(output.find("\nbeyond 1e-10: 1 parameter of double.h5 and changed.h5\n"),
            std::string::npos)
      << output;
  compare("changed.h5 double.h5", 1);
}

TEST_F(Compare, LetsPassWhatIsWithinTheTolerance) {
  save_changed("changed.h5", 300, 5, 1 + 1e-8);
  compare("double.h5 changed.h5", 1);
  compare("double.h5 changed.h5 --tolerance 1e-7", 0);
  compare("double.h5 digits.h5", 1);
  compare("double.h5 digits.h5 --tolerance 1e-4", 0);
}

TEST_F(Compare, NeverPassesNotANumber) {
  save_changed("nan1.h5", 2, 3, std::numeric_limits<double>::quiet_NaN());
  save_changed("nan2.h5", 2, 3, std::numeric_limits<double>::quiet_NaN());
  save_changed("infinite.h5", 2, 3, std::numeric_limits<double>::infinity());
  for (const std::string pair :
       {"double.h5 nan1.h5", "nan1.h5 double.h5", "nan1.h5 nan2.h5", "nan1.h5 nan1.h5",
        "double.h5 infinite.h5", "infinite.h5 infinite.h5"}) {
    const std::string output = compare(pair + " --tolerance 1e300", 1);
    EXPECT_NE(output.find("[2, 3]: "), std::string::npos) << output;
    EXPECT_NE(output.find(" BEYOND\n"), std::string::npos) << output;
  }
}

TEST_F(Compare, NeedsTheSameParameters) {
  make_input("double.h5");
  Checkpoint checkpoint = load_checkpoint(path("double.h5"));
  checkpoint.parameters.pop_back();
  save_checkpoint(path("fewer.h5"), checkpoint);
  for (const std::string pair : {"double.h5 fewer.h5", "fewer.h5 double.h5"}) {
    const Outcome outcome = run("compare_checkpoints " + pair);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err, "compare_checkpoints: only double.h5 has a parameter 'fc2/weight'.\n");
  }
}

TEST_F(CommandLine, MakeDatasetWritesTheSameTwice) {
  const std::string output = run_well("make_dataset --train 30 --test 10 --output a/b");
  EXPECT_EQ(output,
            "a/b/train-images-idx3-ubyte and train-labels-idx1-ubyte: 30 images of 28 x 28 "
            "pixels\n"
            "a/b/t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte: 10 images of 28 x 28 pixels\n");
  run_well("make_dataset --train 30 --test 10 --output again");
  run_well("make_dataset --train 30 --test 10 --seed 2 --output other");
  for (const std::string name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                 "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    EXPECT_EQ(read_file(path("a/b/" + name)), read_file(path("again/" + name))) << name;
    EXPECT_NE(read_file(path("a/b/" + name)), read_file(path("other/" + name))) << name;
  }
  EXPECT_EQ(fs::file_size(path("a/b/train-images-idx3-ubyte")), 16U + 30 * 28 * 28);
  EXPECT_EQ(fs::file_size(path("a/b/t10k-labels-idx1-ubyte")), 8U + 10);
}

TEST_F(CommandLine, MakeDatasetWritesOnlyWhatIsAskedFor) {
  run_well("make_dataset --train 0 --test 1 --output test");
  EXPECT_FALSE(fs::exists(path("test/train-images-idx3-ubyte")));
  EXPECT_TRUE(fs::exists(path("test/t10k-images-idx3-ubyte")));
}

TEST_F(CommandLine, MakeDatasetCountsAsPeopleDo) {
  EXPECT_EQ(run_well("make_dataset --train 1000 --test 1 --output a"),
            "a/train-images-idx3-ubyte and train-labels-idx1-ubyte: 1,000 images of 28 x 28 "
            "pixels\n"
            "a/t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte: 1 image of 28 x 28 pixels\n");
  EXPECT_EQ(run_well("make_dataset --dataset step --train 1000 --test 1 --output b"),
            "b/train.csv: 1,000 rows of 1 feature and a label\n"
            "b/test.csv: 1 row of 1 feature and a label\n");
}

TEST_F(CommandLine, PythonReadsACheckpoint) {
  const std::string python = STAGEWISE_PYTHON;
  if (python.empty()) GTEST_SKIP() << "there is no python3 with h5py";
  for (const std::string name : {"digits.h5", "double.h5"}) {
    make_input(name);
    const Outcome outcome = run({python, STAGEWISE_READ_CHECKPOINT, path(name).string()});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto read = nlohmann::json::parse(outcome.out);

    const Checkpoint checkpoint = load_checkpoint(path(name));
    EXPECT_EQ(read.at("attributes").at("model"), "mlp");
    EXPECT_EQ(read.at("attributes").at("precision"), checkpoint.precision);
    EXPECT_EQ(read.at("attributes").at("seed"), 1);
    EXPECT_EQ(read.at("attributes").at("epoch"), 2);
    EXPECT_EQ(read.at("attributes").at("step"), 6);
    ASSERT_EQ(read.at("parameters").size(), 4U);
    for (const ParameterValues& parameter : checkpoint.parameters) {
      const auto& found = read.at("parameters").at("/parameters/" + parameter.name);
      EXPECT_EQ(found.at("type"), checkpoint.precision == "float" ? "float32" : "float64");
      ASSERT_EQ(found.at("shape").size(), static_cast<std::size_t>(parameter.shape.rank()));
      for (int i = 0; i < parameter.shape.rank(); ++i) {
        EXPECT_EQ(found.at("shape").at(static_cast<std::size_t>(i)), parameter.shape[i]);
      }
      EXPECT_EQ(found.at("values").get<std::vector<double>>(), parameter.values);
    }
  }
}

}  // namespace
}  // namespace stagewise

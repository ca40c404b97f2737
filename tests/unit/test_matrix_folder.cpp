#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reports/002/matrix_file.hpp"
#include "reports/002/matrix_folder.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

ParameterValues parameter(const std::string& name, const Shape& shape, std::uint64_t seed) {
  const std::vector<float> values = random_values<float>(shape.elements(), seed);
  return {.name = name, .shape = shape, .values = {values.begin(), values.end()}};
}

Checkpoint network() {
  return {
      .model = "cnn",
      .precision = "float",
      .seed = 7,
      .epoch = 3,
      .step = 30,
      .settings = {{"biases", "on"}},
      .parameters = {parameter("conv1/bias", {3}, 1), parameter("conv1/filter", {2, 5, 1, 3}, 2),
                     parameter("fc1/bias", {4}, 3), parameter("fc1/weight", {6, 4}, 4)},
      .workers = {{parameter("fc1/bias", {4}, 5)}}};
}

class MatrixFolder : public testing::Test {
 protected:
  fs::path file(const std::string& name) const { return path_ / name; }

  void store(const std::string& name, std::uint32_t height, std::uint32_t width) const {
    write_matrix(file(name),
                 {height, width, random_values<float>(Index{height} * width, height + width)});
  }

  /// What importing into network() leads to, the folder's name being DIR.
  std::string complaint() const {
    Checkpoint checkpoint = network();
    return shortened(sentence_of([&] { import_matrices(path_, checkpoint, "net.h5"); }));
  }

  /// What making an mlp leads to.
  std::string complaint_of_mlp() const {
    std::vector<ExchangedMatrix> matrices;
    return shortened(sentence_of([&] { mlp_from_matrices(path_, matrices); }));
  }

  std::string shortened(std::string said) const {
    const std::size_t place = said.find(path_.string());
    if (place != std::string::npos) said.replace(place, path_.string().size(), "DIR");
    return said;
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "net";
};

TEST(MatrixName, IsThatOfReport002AndTellsTheParameter) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"fc1/weight", "w1.data"},
      {"fc1/bias", "b1.data"},
      {"fc12/weight", "w12.data"},
      {"conv1/filter", "conv1_filter.data"},
      {"conv2/bias", "conv2_bias.data"},
      {"fc/weight", "fc_weight.data"},
      {"fc01/weight", "fc01_weight.data"},
      {"fc1/weight/x", "fc1_weight_x.data"},
      {"w", "w.data"}};
  for (const auto& [parameter, name] : names) EXPECT_EQ(matrix_name(parameter), name);
}

TEST(MatrixName, IsNotGivenToTwo) {
  EXPECT_EQ(sentence_of([] { matrix_name("w1"); }),
            "the parameter 'w1' cannot have a matrix file: w1.data is that of 'fc1/weight'");
  EXPECT_EQ(sentence_of([] { matrix_name("fc_1/weight"); }),
            "the parameter 'fc_1/weight' cannot have a matrix file: fc_1_weight.data is that of "
            "'fc/1/weight'");
}

TEST_F(MatrixFolder, HasARowForEachOutput) {
  const Checkpoint checkpoint = network();
  const std::vector<ExchangedMatrix> matrices = export_matrices(path_, checkpoint, "net.h5");
  ASSERT_EQ(matrices.size(), 4U);
  EXPECT_EQ(matrices[1].file, "conv1_filter.data");
  EXPECT_EQ(matrices[1].shape, (Shape{3, 10}));
  EXPECT_EQ(std::distance(fs::directory_iterator(path_), fs::directory_iterator()), 4);

  const Matrix weight = read_matrix(file("w1.data"));
  ASSERT_EQ(weight.height, 4U);
  ASSERT_EQ(weight.width, 6U);
  for (std::size_t out = 0; out < 4; ++out) {
    for (std::size_t in = 0; in < 6; ++in) {
      EXPECT_EQ(weight.values.at(out * 6 + in), checkpoint.parameters[3].values.at(in * 4 + out));
    }
  }
  const Matrix filter = read_matrix(file("conv1_filter.data"));
  ASSERT_EQ(filter.height, 3U);
  ASSERT_EQ(filter.width, 10U);
  for (std::size_t out = 0; out < 3; ++out) {
    for (std::size_t rest = 0; rest < 10; ++rest) {
      EXPECT_EQ(filter.values.at(out * 10 + rest),
                checkpoint.parameters[1].values.at(rest * 3 + out));
    }
  }
  EXPECT_EQ(read_matrix(file("b1.data")).height, 1U);
  EXPECT_EQ(read_matrix(file("b1.data")).width, 4U);
}

TEST_F(MatrixFolder, ComesBackIntoACheckpointThatKeepsTheRest) {
  const Checkpoint before = network();
  export_matrices(path_, before, "net.h5");
  Checkpoint after = network();
  for (ParameterValues& values : after.parameters) values.values.assign(values.values.size(), 9);
  import_matrices(path_, after, "net.h5");
  ASSERT_EQ(after.parameters.size(), before.parameters.size());
  for (std::size_t i = 0; i < before.parameters.size(); ++i) {
    EXPECT_EQ(after.parameters[i].name, before.parameters[i].name);
    EXPECT_EQ(after.parameters[i].shape, before.parameters[i].shape);
    EXPECT_EQ(after.parameters[i].values, before.parameters[i].values);
  }
  EXPECT_EQ(after.model, "cnn");
  EXPECT_EQ(after.seed, 7U);
  EXPECT_EQ(after.epoch, 3);
  EXPECT_EQ(after.step, 30);
  EXPECT_EQ(after.settings, before.settings);
  EXPECT_TRUE(after.workers.empty()) << "they are not those of the new parameters";
}

TEST_F(MatrixFolder, TakesABiasAsAColumn) {
  export_matrices(path_, network(), "net.h5");
  store("b1.data", 4, 1);
  Checkpoint checkpoint = network();
  import_matrices(path_, checkpoint, "net.h5");
  const Matrix bias = read_matrix(file("b1.data"));
  EXPECT_EQ(checkpoint.parameters[2].values,
            std::vector<double>(bias.values.begin(), bias.values.end()));
}

TEST_F(MatrixFolder, HoldsWhatFitsIntoAFloat) {
  Checkpoint checkpoint = network();
  checkpoint.precision = "double";
  checkpoint.parameters[3].values[5] = 0.1;
  export_matrices(path_, checkpoint, "net.h5");
  Checkpoint after = checkpoint;
  import_matrices(path_, after, "net.h5");
  EXPECT_EQ(after.precision, "double");
  EXPECT_EQ(after.parameters[3].values[5], static_cast<double>(0.1F));

  for (const double value : {1e39, -1e39, std::numeric_limits<double>::quiet_NaN()}) {
    checkpoint.parameters[3].values[5] = value;
    const std::string said =
        sentence_of([&] { export_matrices(folder_ / "unwritten", checkpoint, "net.h5"); });
    expect_contains(said, "the parameter 'fc1/weight' has a value of ");
    expect_contains(said, ", which no finite float is");
  }
  EXPECT_FALSE(fs::exists(folder_ / "unwritten"));
}

TEST_F(MatrixFolder, IsNotExportedWhereItWouldBeMisread) {
  export_matrices(path_, network(), "net.h5");
  export_matrices(path_, network(), "net.h5");  // over itself
  write_file(file("notes.txt"), {});
  export_matrices(path_, network(), "net.h5");
  store("w2.data", 1, 1);
  const std::string said = sentence_of([&] { export_matrices(path_, network(), "net.h5"); });
  EXPECT_EQ(shortened(said),
            "the folder DIR already holds w2.data, which would pass for a "
            "parameter of this network; name another folder");
}

TEST_F(MatrixFolder, MustFitTheCheckpoint) {
  EXPECT_EQ(complaint(), "the folder DIR cannot be read: there is no such folder");
  export_matrices(path_, network(), "net.h5");
  EXPECT_EQ(complaint(), "");

  store("w1.data", 6, 4);
  EXPECT_EQ(complaint(),
            "DIR/w1.data has a matrix of 6 x 4, but the parameter 'fc1/weight' of "
            "shape [6, 4] takes one of 4 x 6: it lies transposed, a row is an output");
  store("w1.data", 4, 7);
  EXPECT_EQ(complaint(),
            "DIR/w1.data has a matrix of 4 x 7, but the parameter 'fc1/weight' of "
            "shape [6, 4] takes one of 4 x 6");
  fs::remove(file("w1.data"));
  EXPECT_EQ(complaint(), "the matrix DIR/w1.data cannot be read: there is no such file");
  store("w1.data", 4, 6);
  store("b1.data", 2, 2);
  expect_contains(complaint(), "DIR/b1.data has a matrix of 2 x 2");
  store("b1.data", 1, 4);
  store("b2.data", 1, 4);
  EXPECT_EQ(complaint(),
            "the folder DIR holds b2.data, but the checkpoint net.h5 has no parameter 'fc2/bias'");
}

TEST_F(MatrixFolder, LeavesTheCheckpointAloneIfItDoesNotFit) {
  export_matrices(path_, network(), "net.h5");
  fs::remove(file("w1.data"));
  Checkpoint checkpoint = network();
  checkpoint.parameters[0].values.assign(3, 9);
  EXPECT_NE(sentence_of([&] { import_matrices(path_, checkpoint, "net.h5"); }), "");
  EXPECT_EQ(checkpoint.parameters[0].values, std::vector<double>(3, 9));
  EXPECT_EQ(checkpoint.workers.size(), 1U);
}

TEST_F(MatrixFolder, AloneMakesAnMlp) {
  fs::create_directory(path_);
  store("w1.data", 5, 7);
  store("b1.data", 1, 5);
  store("w2.data", 4, 5);
  store("b2.data", 4, 1);
  store("w3.data", 2, 4);
  store("b3.data", 1, 2);
  std::vector<ExchangedMatrix> matrices;
  const Checkpoint mlp = mlp_from_matrices(path_, matrices);
  EXPECT_EQ(matrices.size(), 6U);
  EXPECT_EQ(mlp.model, "mlp");
  EXPECT_EQ(mlp.precision, "float");
  EXPECT_EQ(mlp.settings.at("hidden"), "5,4");
  EXPECT_EQ(mlp.settings.at("activation"), "relu");
  EXPECT_EQ(mlp.settings.at("loss"), "cross-entropy");
  EXPECT_EQ(mlp.settings.at("biases"), "on");
  ASSERT_EQ(mlp.parameters.size(), 6U);
  EXPECT_EQ(mlp.parameters[0].name, "fc1/bias");
  EXPECT_EQ(mlp.parameters[0].shape, Shape{5});
  EXPECT_EQ(mlp.parameters[1].name, "fc1/weight");
  EXPECT_EQ(mlp.parameters[1].shape, (Shape{7, 5}));
  EXPECT_EQ(mlp.parameters[1].values.at(1), read_matrix(file("w1.data")).values.at(7));
}

TEST_F(MatrixFolder, AloneMakesAnMlpWithoutBiasesOrHiddenLayers) {
  fs::create_directory(path_);
  store("w1.data", 3, 4);
  std::vector<ExchangedMatrix> matrices;
  const Checkpoint mlp = mlp_from_matrices(path_, matrices);
  EXPECT_EQ(mlp.settings.at("hidden"), "none");
  EXPECT_EQ(mlp.settings.at("biases"), "off");
  ASSERT_EQ(mlp.parameters.size(), 1U);
}

TEST_F(MatrixFolder, AloneMustBeAnMlp) {
  EXPECT_EQ(complaint_of_mlp(), "the folder DIR cannot be read: there is no such folder");
  fs::create_directory(path_);
  EXPECT_EQ(complaint_of_mlp(), "the matrix DIR/w1.data cannot be read: there is no such file");
  store("w1.data", 5, 7);
  store("w2.data", 2, 6);
  EXPECT_EQ(complaint_of_mlp(),
            "DIR/w2.data has a matrix of 2 x 6, but w1.data has 5 rows: each "
            "layer must have a column for every row of the one before");
  store("w2.data", 2, 5);
  store("b1.data", 1, 4);
  expect_contains(complaint_of_mlp(), "DIR/b1.data has a matrix of 1 x 4");
  store("b1.data", 1, 5);
  EXPECT_EQ(complaint_of_mlp(), "the matrix DIR/b2.data cannot be read: there is no such file");
  fs::remove(file("b1.data"));
  store("b2.data", 1, 2);
  expect_contains(complaint_of_mlp(), "the folder DIR holds b2.data, which belongs to none");
  fs::remove(file("b2.data"));
  EXPECT_EQ(complaint_of_mlp(), "");
  store("w4.data", 1, 1);
  expect_contains(complaint_of_mlp(), "the folder DIR holds w4.data, which belongs to none");
  fs::remove(file("w4.data"));
  store("conv1_filter.data", 1, 1);
  EXPECT_EQ(complaint_of_mlp(),
            "the folder DIR holds conv1_filter.data, which belongs to none of the layers w1.data, "
            "w2.data, ...; for any other network than an mlp, import into a checkpoint that has "
            "its shapes");
}

}  // namespace
}  // namespace stagewise

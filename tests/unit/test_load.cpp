#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "data/generators.hpp"
#include "io/data_sets/catalog.hpp"
#include "io/data_sets/formats.hpp"
#include "io/data_sets/load.hpp"
#include "support.hpp"
#include "unit/temporary_folder.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

constexpr const char* variable = "STAGEWISE_DATA_DIR";

DatasetOptions named(const std::string& name) {
  DatasetOptions options;
  options.name = name;
  return options;
}

DatasetOptions idx(const fs::path& path) {
  DatasetOptions options;
  options.name = path.string();
  options.format = "idx";
  return options;
}

/// 50 training and 20 test images in the folder `name`, as MNIST has them.
void write_mnist_like(const fs::path& folder) {
  fs::create_directories(folder);
  write_idx(make_digits(50, 3, Purpose::training_data), folder / "train-images-idx3-ubyte",
            folder / "train-labels-idx1-ubyte");
  write_idx(make_digits(20, 3, Purpose::test_data), folder / "t10k-images-idx3-ubyte",
            folder / "t10k-labels-idx1-ubyte");
}

struct MnistFolder : TemporaryFolder {
  MnistFolder() { write_mnist_like(path() / "mnist"); }

  DatasetOptions options() const { return {.name = "mnist", .data_dir = path().string()}; }
};

/// 53 digits in a single file.
struct ImagesFile : TemporaryFolder {
  ImagesFile() { write_idx(digits, path() / "my-images", path() / "my-labels"); }

  DatasetOptions options() const { return idx(path() / "my-images"); }

  Dataset digits = make_digits(53, 1, Purpose::test);
};

/// The sentence of the error, which must be a UsageError if `Exception` is: that decides the exit
/// code.
template <typename Exception>
std::string sentence(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    const bool is_usage_error = dynamic_cast<const UsageError*>(&error) != nullptr;
    EXPECT_EQ(is_usage_error, (std::is_same_v<Exception, UsageError>)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

Dataset load_for_evaluation(const DatasetOptions& options, const std::optional<TableEncoding>& encoding = {}) {
  return load_unseen(options, encoding).samples;
}

std::string usage_error(const DatasetOptions& options) {
  return sentence<UsageError>([&] { load_for_training(options); });
}

void expect_equal(const Dataset& left, const Dataset& right) {
  EXPECT_EQ(left.labels(), right.labels());
  EXPECT_EQ(left.sample_shape(), right.sample_shape());
  ASSERT_TRUE(left.pixels() != nullptr && right.pixels() != nullptr);
  EXPECT_TRUE(*left.pixels() == *right.pixels());
}

TEST(Load, GeneratedDataNeedNoFile) {
  const Split split = load_for_training({});
  EXPECT_EQ(split.train.size(), 10000);
  EXPECT_EQ(split.validation.size(), 0);
  EXPECT_EQ(split.test.size(), 2000);
  expect_equal(split.train.slice(0, 10), make_digits(10, 1, Purpose::training_data));
  expect_equal(load_for_evaluation({}), split.test);
  const Split step = load_for_training(named("step"));
  EXPECT_EQ(step.train.size(), 100000);
  EXPECT_EQ(step.test.size(), 10000);
  EXPECT_NE(step.test.labels(), step.train.slice(0, 10000).labels());
}

TEST(Load, GaussianIsMadeAsItsOptionsSay) {
  DatasetOptions options = named("gaussian");
  options.gaussian = {.features = 4, .classes = 3, .samples = 50, .spacing = 2, .deviation = 0.5};
  const Split split = load_for_training(options);
  EXPECT_EQ(*split.train.values(), *make_gaussian(options.gaussian, 50, 1, Purpose::training_data).values());
  EXPECT_EQ(*split.test.values(), *make_gaussian(options.gaussian, 10, 1, Purpose::test_data).values());
  EXPECT_FALSE(split.encoding.has_value());
  options.train_limit = 51;
  EXPECT_EQ(usage_error(options), "--train-limit 51 asks for more than the 50 training samples of gaussian");
}

TEST(Load, LimitsTakeTheFirstSamplesAndValidationTheLastOfThese) {
  const Dataset train = make_digits(30, 1, Purpose::training_data);
  DatasetOptions options;
  options.train_limit = 30;
  options.test_limit = 7;
  options.validation = 8;
  const Split split = load_for_training(options);
  expect_equal(split.train, train.slice(0, 22));
  expect_equal(split.validation, train.slice(22, 8));
  expect_equal(split.test, make_digits(7, 1, Purpose::test_data));
  EXPECT_EQ(load_for_evaluation(options).size(), 7);
}

TEST(Load, LimitsThatCannotBeMetNameTheirOption) {
  EXPECT_EQ(usage_error({.train_limit = 50, .validation = std::numeric_limits<Index>::max()}),
            "--validation 9223372036854775807 leaves nothing to train on: there are 50 training "
            "samples");
}

TEST(Load, UnknownNamesAreAnsweredWithTheKnownOnes) {
  const std::string said = usage_error(named("minst"));
  for (const std::string& name : dataset_names()) expect_contains(said, name);
  expect_contains(said, "--format (idx, csv, cifar10, hdf5)");
}

TEST(Load, DataFolderIsTheOptionRatherThanTheVariable) {
  const MnistFolder folder;
  const char* const before = std::getenv(variable);
  const std::string kept = before == nullptr ? "" : before;
  setenv(variable, "elsewhere", 1);
  EXPECT_EQ(load_for_evaluation(folder.options()).size(), 20);
  if (before == nullptr) {
    unsetenv(variable);
  } else {
    setenv(variable, kept.c_str(), 1);
  }
}

TEST(Load, FilesOfADataSetAreAllThatItMayBeReadFrom) {
  const auto names = [](const DatasetOptions& options) {
    std::set<std::string> result;
    for (const fs::path& file : files_of(options)) result.insert(file.string());
    return result;
  };
  using Names = std::set<std::string>;
  for (const char* const generated : {"digits", "gaussian", "step"}) {
    EXPECT_EQ(names(named(generated)), Names());
  }
  EXPECT_EQ(names(idx("a/my-images")), (Names{"a/my-images", "a/my-images.gz", "a/my-labels", "a/my-labels.gz"}));
  EXPECT_EQ(names({.name = "t.csv.gz", .format = "csv"}), (Names{"t.csv", "t.csv.gz"}));
  EXPECT_EQ(names({.name = "wholesale", .data_dir = "d"}),
            (Names{"d/wholesale/wholesale-customers.csv", "d/wholesale/wholesale-customers.csv.gz"}));
  const Names mnist = names({.name = "fashion-mnist", .data_dir = "d"});
  EXPECT_EQ(mnist.size(), 8U);
  EXPECT_TRUE(mnist.contains("d/fashion-mnist/train-images-idx3-ubyte"));
  EXPECT_TRUE(mnist.contains("d/fashion-mnist/t10k-labels-idx1-ubyte.gz"));
  const TemporaryFolder folder;
  fs::create_directory(folder / "cifar10");
  for (const std::string name : {"data_batch_1.bin", "data_batch_2.bin.gz", "test_batch.bin"}) {
    write_file(folder / "cifar10" / name, {1});
  }
  EXPECT_EQ(names({.name = "cifar10", .data_dir = folder.path().string()}).size(), 6U);
}

TEST(Load, EvaluationNeedsNoTrainingFiles) {
  const MnistFolder folder;
  fs::remove(folder / "mnist/train-images-idx3-ubyte");
  EXPECT_EQ(load_for_evaluation(folder.options()).size(), 20);
}

TEST(Load, FilesMayHaveTheNamesOfOtherArchives) {
  const std::vector<std::string> usual = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                          "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
  for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{
           {"train-images.idx3-ubyte", "train-labels.idx1-ubyte", "t10k-images.idx3-ubyte",
            "t10k-labels.idx1-ubyte.gz"},
           {"emnist-train-images-idx3-ubyte", "emnist-train-labels-idx1-ubyte", "emnist-test-images-idx3-ubyte.gz",
            "emnist-test-labels-idx1-ubyte"},
           {"train-images-idx3-ubyte", "train-labels-idx2-int.gz", "test-images-idx3-ubyte", "test-labels-idx2-int"}}) {
    const MnistFolder folder;
    for (std::size_t i = 0; i < 4; ++i) fs::rename(folder / "mnist" / usual[i], folder / "mnist" / names[i]);
    EXPECT_EQ(load_for_training(folder.options()).train.size(), 50);
    EXPECT_EQ(load_for_evaluation(idx(folder / "mnist" / names[0])).size(), 50);
    const std::vector<fs::path> files = files_of(folder.options());
    for (const std::string& name : names) {
      EXPECT_TRUE(std::ranges::any_of(files, [&](const fs::path& file) { return file == folder / "mnist" / name; }));
    }
  }
}

TEST(Load, FilesThatAreMissingAreSoughtAmongThoseThatAreThere) {
  const MnistFolder folder;
  fs::rename(folder / "mnist/train-images-idx3-ubyte", folder / "mnist/a-train-images-idx3-ubyte");
  fs::copy(folder / "mnist/a-train-images-idx3-ubyte", folder / "mnist/b-train-images-idx3-ubyte");
  const std::string said = sentence<Error>([&] { load_for_training(folder.options()); });
  expect_contains(said, "needs the file " + (folder / "mnist/train-images-idx3-ubyte").string());
  expect_contains(said,
                  "; its folder has a-train-images-idx3-ubyte, b-train-images-idx3-ubyte, t10k-images-idx3-ubyte,");
  expect_contains(sentence<Error>([&] { load_for_training(idx(folder / "mnist/a-train-images-idx3-ubyte")); }),
                  "a-train-labels-idx1-ubyte (with or without .gz), which is not there; its folder has");
  expect_contains(sentence<Error>([&] { load_for_training(idx(folder / "mnist")); }),
                  "it is a folder, and a file of images was expected; its folder has");
}

TEST(Load, ClassesWithoutSamplesAreNoted) {
  const TemporaryFolder folder;
  const auto notes = [&](const std::vector<std::int32_t>& labels) {
    write_idx(Dataset({1, 1, 1}, 10, Bytes(labels.size()), labels), folder / "images", folder / "labels");
    return load_for_training(idx(folder / "images")).notes;
  };
  EXPECT_EQ(notes({1, 0}), std::vector<std::string>());
  EXPECT_EQ(notes({1, 2, 3}), std::vector<std::string>{"the classes are 0 to 3, but no sample is of class 0: what the "
                                                       "network answers there is never right"});
  EXPECT_EQ(notes({9, 1}), std::vector<std::string>{"the classes are 0 to 9, but no sample is of class 0, 2, 3, 4, 5, "
                                                    "... (8 in all): what the network answers there is never right"});
}

TEST(Load, TrainingAndTestImagesMustHaveOneSize) {
  const MnistFolder folder;
  write_idx(Dataset({2, 2, 1}, 10, Bytes{1, 2, 3, 4}, {0}), folder / "mnist/t10k-images-idx3-ubyte",
            folder / "mnist/t10k-labels-idx1-ubyte");
  const std::string said = sentence<Error>([&] { load_for_training(folder.options()); });
  expect_contains(said, "[28, 28, 1]");
  expect_contains(said, "[2, 2, 1]");
}

TEST(Load, TheLastFifthOfASingleFileIsItsTestSet) {
  const ImagesFile file;
  const Split split = load_for_training(file.options());
  expect_equal(split.train, file.digits.slice(0, 43));
  expect_equal(split.test, file.digits.slice(43, 10));
  EXPECT_EQ(split.train.classes(), 10);
  expect_equal(load_for_evaluation(file.options()), file.digits);
}

TEST(Load, LimitsOfASingleFileApplyToItsParts) {
  const ImagesFile file;
  DatasetOptions options = file.options();
  options.train_limit = 40;
  options.test_limit = 10;
  options.validation = 4;
  const Split split = load_for_training(options);
  expect_equal(split.train, file.digits.slice(0, 36));
  expect_equal(split.validation, file.digits.slice(36, 4));
  expect_equal(split.test, file.digits.slice(43, 10));
  options.test_limit = 11;
  EXPECT_EQ(usage_error(options), "--test-limit 11 asks for more than the 10 test samples of " + options.name);
  EXPECT_EQ(load_for_evaluation(options).size(), 11);
  options.test_limit = 54;
  EXPECT_EQ(sentence<UsageError>([&] { load_for_evaluation(options); }),
            "--test-limit 54 asks for more than the 53 samples of " + options.name);
}

TEST(Load, ASingleFileMayBeSmall) {
  const TemporaryFolder folder;
  const Dataset two({1, 1, 1}, 4, Bytes{5, 6}, {3, 0});
  write_idx(two, folder / "images", folder / "labels");
  const Split split = load_for_training(idx(folder / "images"));
  EXPECT_EQ(split.train.size(), 1);
  EXPECT_EQ(split.test.size(), 1);
  EXPECT_EQ(split.test.classes(), 4);
  write_idx(two.slice(0, 1), folder / "images", folder / "labels");
  const std::string said = sentence<Error>([&] { load_for_training(idx(folder / "images")); });
  expect_contains(said, "a single sample");
}

TEST(Load, LabelsBesideASingleFileMayBeCompressedOrNot) {
  const ImagesFile folder;
  fs::rename(folder / "my-labels", folder / "my-labels.gz");
  EXPECT_EQ(load_for_evaluation(folder.options()).size(), 53);
  fs::rename(folder / "my-images", folder / "my-images.gz");
  fs::rename(folder / "my-labels.gz", folder / "my-labels");
  EXPECT_EQ(load_for_evaluation(idx(folder / "my-images.gz")).size(), 53);
  fs::remove(folder / "my-labels");
  expect_contains(sentence<Error>([&] { load_for_evaluation(idx(folder / "my-images.gz")); }),
                  " needs its labels in " + (folder / "my-labels.gz").string() + " (with or without .gz)");
}

TEST(Load, PredictionNeedsNoLabelsOfImages) {
  const ImagesFile folder;
  DatasetOptions options = folder.options();
  options.needs_labels = false;
  fs::remove(folder / "my-labels");
  for (const std::string name : {"my-images", "mine"}) {
    fs::rename(options.name, folder / name);
    options.name = (folder / name).string();
    options.test_limit = 3;
    const Unseen unseen = load_unseen(options);
    EXPECT_FALSE(unseen.has_labels);
    EXPECT_EQ(*unseen.samples.pixels(), *folder.digits.slice(0, 3).pixels());
    EXPECT_EQ(unseen.samples.labels(), std::vector<std::int32_t>(3));
    EXPECT_EQ(files_of(options).size(), 2U) << "the images, with and without .gz";
  }
}

// --- CIFAR-10

/// A batch of records whose labels are these.
void write_batch(const fs::path& path, const std::vector<std::uint8_t>& labels) {
  fs::create_directories(path.parent_path());
  Bytes bytes;
  for (const std::uint8_t label : labels) {
    bytes.push_back(label);
    bytes.insert(bytes.end(), 3072, label);
  }
  write_file(path, bytes);
}

TEST(Load, Cifar10TakesAllItsBatchesInOrder) {
  for (const char* place : {"cifar10", "cifar10/cifar-10-batches-bin", "cifar10-jpeg"}) {
    const TemporaryFolder folder;
    DatasetOptions options = named("cifar10");
    options.data_dir = folder.path().string();
    write_batch(folder / place / "data_batch_10.bin", {5});
    write_batch(folder / place / "data_batch_9.bin", {3, 4});
    write_batch(folder / place / "data_batch_1.bin.gz", {1});  // whatever its name, it is plain
    write_batch(folder / place / "data_batch_2.bin", {2});
    write_batch(folder / place / "data_batch_2.bin.gz", {9});  // the same again
    write_batch(folder / place / "batches.meta.txt", {9});
    write_batch(folder / place / "test_batch.bin", {7, 8});
    const Split split = load_for_training(options);
    EXPECT_EQ(split.train.labels(), (std::vector<std::int32_t>{1, 2, 3, 4, 5}));
    EXPECT_EQ(split.test.labels(), (std::vector<std::int32_t>{7, 8}));
    EXPECT_EQ(split.train.sample_shape(), (Shape{32, 32, 3}));
    EXPECT_EQ(load_for_evaluation(options).labels(), (std::vector<std::int32_t>{7, 8}));
    fs::remove(folder / place / "test_batch.bin");
    const std::string said = sentence<Error>([&] { load_for_training(options); });
    expect_contains(said, (folder / "cifar10" / "test_batch.bin").string());
  }
}

TEST(Load, Cifar10MayBeASingleFile) {
  const TemporaryFolder folder;
  write_batch(folder / "some", {0, 1, 2, 3, 4, 5});
  DatasetOptions options = named((folder / "some").string());
  options.format = "cifar10";
  const Split split = load_for_training(options);
  EXPECT_EQ(split.train.labels(), (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(split.test.labels(), (std::vector<std::int32_t>{5}));
}

// --- tables

void write_table(const TemporaryFolder& folder, const std::string& text) {
  write_file(folder / "table.csv", Bytes(text.begin(), text.end()));
}

/// Ten rows; the classes alternate.
DatasetOptions table(const TemporaryFolder& folder) {
  std::string text = "a,b,kind\n";
  for (int i = 0; i < 10; ++i) {
    text += std::to_string(i * i) + ",7," + (i % 2 == 0 ? "even" : "odd") + "\n";
  }
  write_table(folder, text);
  DatasetOptions options = named((folder / "table.csv").string());
  options.format = "csv";
  options.label = "kind";
  return options;
}

TEST(Load, TablesAreStandardizedWithWhatIsLeftForTraining) {
  const TemporaryFolder folder;
  DatasetOptions options = table(folder);
  options.train_limit = 5;
  options.validation = 2;
  const Split split = load_for_training(options);
  ASSERT_TRUE(split.encoding.has_value());
  EXPECT_EQ(split.encoding->features, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split.encoding->classes, (std::vector<std::string>{"even", "odd"}));
  // The training samples are 0, 1, 4.
  const double mean = 5.0 / 3;
  const double deviation = std::sqrt((25.0 + 4 + 49) / 27);
  const Standardization& found = split.encoding->standardization;
  EXPECT_NEAR(found.mean[0], mean, 1e-15);
  EXPECT_NEAR(found.deviation[0], deviation, 1e-15);
  const auto expect_values = [&](const Dataset& part, const std::vector<double>& raw) {
    ASSERT_EQ(part.size(), static_cast<Index>(raw.size()));
    for (std::size_t i = 0; i < raw.size(); ++i) {
      EXPECT_NEAR((*part.values())[2 * i], (raw[i] - mean) / deviation, 1e-12);
      EXPECT_EQ((*part.values())[2 * i + 1], 0);  // a constant
    }
  };
  expect_values(split.train, {0, 1, 4});
  expect_values(split.validation, {9, 16});
  expect_values(split.test, {64, 81});
  EXPECT_EQ(split.test.labels(), (std::vector<std::int32_t>{0, 1}));
}

TEST(Load, EvaluationSeesATableAsTheTrainingDid) {
  const TemporaryFolder folder;
  DatasetOptions options = table(folder);
  const Split split = load_for_training(options);
  const Dataset all = load_for_evaluation(options, split.encoding);
  ASSERT_EQ(all.size(), 10);
  EXPECT_EQ(*all.slice(0, 8).values(), *split.train.values());
  EXPECT_EQ(*all.slice(8, 2).values(), *split.test.values());
  options.test_limit = 4;
  EXPECT_EQ(*load_for_evaluation(options, split.encoding).values(), *all.slice(0, 4).values());
  // Without, its own mean is 0, whatever the limit lets through.
  options.test_limit = {};
  const Dataset own = load_for_evaluation(options);
  double sum = 0;
  for (const double value : *own.values()) sum += value;
  EXPECT_NEAR(sum, 0, 1e-12);
  options.test_limit = 4;
  EXPECT_EQ(*load_for_evaluation(options).values(), *own.slice(0, 4).values());
}

TEST(Load, PredictionNeedsNoLabelsOfATable) {
  const TemporaryFolder folder;
  DatasetOptions options = table(folder);
  const Split split = load_for_training(options);
  options.needs_labels = false;
  const Unseen labelled = load_unseen(options, split.encoding);
  EXPECT_TRUE(labelled.has_labels);
  EXPECT_EQ(labelled.samples.labels(), load_for_evaluation(options, split.encoding).labels());

  write_table(folder, "a,b\n1,7\n9,7\n");
  const Unseen unseen = load_unseen(options, split.encoding);
  EXPECT_FALSE(unseen.has_labels);
  EXPECT_EQ(unseen.samples.size(), 2);
  write_table(folder, "a,b,kind\n1,7,odd\n9,7,odd\n");
  EXPECT_EQ(*unseen.samples.values(), *load_for_evaluation(options, split.encoding).values())
      << "standardized as the training was";

  write_table(folder, "b,a\n1,7\n");
  EXPECT_EQ(sentence<Error>([&] { load_unseen(options, split.encoding); }),
            (folder / "table.csv").string() + " has the feature columns b, a, but the network was trained on a, b");
  options.needs_labels = true;
  EXPECT_THROW(load_unseen(options, split.encoding), UsageError);
}

TEST(Load, LabelsAreForTablesOnly) {
  const DatasetOptions options = {.name = "digits", .label = "kind"};
  const std::string sentence_of_both = "--label names a column of a CSV file, but digits is none";
  EXPECT_EQ(usage_error(options), sentence_of_both);
  EXPECT_EQ(sentence<UsageError>([&] { load_for_evaluation(options); }), sentence_of_both);
}

// --- real data

/// Where a file of real data is; empty if it is not there.
fs::path real(const fs::path& file) {
  const char* const folder = std::getenv(variable);
  return folder != nullptr && fs::exists(fs::path(folder) / file) ? fs::path(folder) / file : fs::path();
}

TEST(Load, RealWholesaleCustomersAreAsDescribed) {
  const fs::path file = real("wholesale/wholesale-customers.csv");
  if (file.empty()) GTEST_SKIP() << "there is no wholesale/ in " << variable;
  DatasetOptions options = named("wholesale");
  EXPECT_EQ(usage_error(options), "--label must name the column of " + file.string() +
                                      " that holds the class; the columns are Channel, Region, Fresh, Milk, Grocery, "
                                      "Frozen, Detergents_Paper, Delicassen");
  options.label = "Channel";
  EXPECT_EQ(load_for_training(options).train.size(), 352);
  EXPECT_EQ(load_for_training(options).test.size(), 88);
  const Dataset all = load_for_evaluation(options);
  EXPECT_EQ(all.size(), 440);
  const auto count = [](const Dataset& set, std::int32_t label) {
    return std::count(set.labels().begin(), set.labels().end(), label);
  };
  EXPECT_EQ(count(all, 0), 298);
  EXPECT_EQ(count(all, 1), 142);
  const Table raw = read_csv(file, "Channel");
  EXPECT_EQ(raw.encoding.features, (std::vector<std::string>{"Region", "Fresh", "Milk", "Grocery", "Frozen",
                                                             "Detergents_Paper", "Delicassen"}));
  const Standardization found = standardization_of(raw.dataset);
  EXPECT_NEAR(found.mean[1], 12000.30, 0.005);
  EXPECT_NEAR(found.mean[2], 5796.27, 0.005);
  options.label = "Region";
  const Dataset regions = load_for_evaluation(options);
  EXPECT_EQ(count(regions, 0), 77);
  EXPECT_EQ(count(regions, 1), 47);
  EXPECT_EQ(count(regions, 2), 316);
}

TEST(Load, RealCifar10IsAsDescribed) {
  if (real("cifar10-jpeg").empty() || !real("cifar10").empty()) {
    GTEST_SKIP() << "there is no cifar10-jpeg, or all of CIFAR-10, in " << variable;
  }
  const Split split = load_for_training(named("cifar10"));
  EXPECT_EQ(split.train.size(), 5000);
  EXPECT_EQ(split.test.size(), 2000);
  EXPECT_EQ(split.train.sample_shape(), (Shape{32, 32, 3}));
  // CIFAR-10's mean colour is 0.491 red, 0.482 green, 0.447 blue. Were the three planes of the file
  // taken for interleaved channels, all three means would be the same.
  std::array<double, 3> mean{};
  const std::vector<std::uint8_t>& pixels = *split.train.pixels();
  for (std::size_t i = 0; i < pixels.size(); ++i) mean.at(i % 3) += pixels[i];
  for (double& channel : mean) channel /= 255.0 / 3 * static_cast<double>(pixels.size());
  EXPECT_NEAR(mean[0], 0.491, 0.01);
  EXPECT_NEAR(mean[1], 0.482, 0.01);
  EXPECT_NEAR(mean[2], 0.447, 0.01);
}

TEST(Load, RefusesAFileWithASingleClass) {
  const TemporaryFolder folder;
  const fs::path images = folder / "train-images-idx3-ubyte";
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(10 * 28 * 28), 7);
  write_idx(Dataset({28, 28, 1}, 10, std::move(pixels), std::vector<std::int32_t>(10, 5)), images,
            idx_labels_path(images));
  EXPECT_EQ(sentence<Error>([&] { load_for_training(idx(images)); }),
            images.string() + " holds one class only, 5: there is nothing to tell apart");
  EXPECT_EQ(load_for_evaluation(idx(images), {}).size(), 10);  // a network may be asked about it
}

}  // namespace
}  // namespace stagewise

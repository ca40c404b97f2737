#include "data/load.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "data/check_values.hpp"
#include "data/cifar10.hpp"
#include "data/csv.hpp"
#include "data/hdf5_data.hpp"
#include "data/idx.hpp"
#include "data/standardization.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/near_miss.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// How many samples an option lets through.
struct Limit {
  std::optional<Index> count;  ///< empty: all
  std::string option;          ///< "--train-limit"
  std::string samples;         ///< "training sample"
  std::string set;             ///< "mnist"

  /// The number of samples to use of those that are there.
  Index of(Index available) const {
    if (count && *count > available) {
      throw UsageError(option + " " + std::to_string(*count) + " asks for more than the " +
                       count_of(available, samples) + " of " + set);
    }
    return count.value_or(available);
  }

  Dataset of(Dataset all) const {
    const Index used = of(all.size());
    return used == all.size() ? std::move(all) : all.slice(0, used);
  }
};

enum class Part { training, test };

/// @throws UsageError for a limit below 1, before any file is touched.
Limit limit_for(Part part, const DatasetOptions& options) {
  const bool training = part == Part::training;
  Limit limit = {training ? options.train_limit : options.test_limit,
                 training ? "--train-limit" : "--test-limit",
                 training ? "training sample" : "test sample", options.name};
  if (limit.count && *limit.count < 1) {
    throw UsageError(limit.option + " is " + std::to_string(*limit.count) +
                     ", but must be at least 1");
  }
  return limit;
}

// --- data sets that have a name ---

/// Only as many samples are generated as the limit lets through.
/// @param make from a number of samples, a seed and a purpose.
template <typename Make>
Dataset generated(const Make& make, const GeneratedSizes& sizes, Part part, const Limit& limit) {
  return part == Part::training
             ? make(limit.of(sizes.train), generated_data_seed, Purpose::training_data)
             : make(limit.of(sizes.test), generated_data_seed, Purpose::test_data);
}

Dataset digits(const DatasetOptions&, Part part, const Limit& limit) {
  return generated(make_digits, digits_sizes, part, limit);
}

Dataset gaussian(const DatasetOptions& options, Part part, const Limit& limit) {
  check(options.gaussian);
  const auto make = [&](Index count, std::uint64_t seed, Purpose purpose) {
    return make_gaussian(options.gaussian, count, seed, purpose);
  };
  return generated(make, options.gaussian.sizes(), part, limit);
}

Dataset step(const DatasetOptions&, Part part, const Limit& limit) {
  return generated(make_step, step_sizes, part, limit);
}

fs::path data_folder(const DatasetOptions& options) {
  if (!options.data_dir.empty()) return options.data_dir;
  const char* const variable = std::getenv("STAGEWISE_DATA_DIR");
  return variable != nullptr && *variable != '\0' ? variable : "datasets";
}

/// False also for what cannot be looked at; reading it then says why.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The same file with the other of the two endings: without ".gz" or with it.
fs::path with_other_ending(const fs::path& path) {
  fs::path other = path;
  if (path.extension() == ".gz") {
    other.replace_extension();
  } else {
    other += ".gz";
  }
  return other;
}

/// `path` itself, or the same file with the other of the two endings.
fs::path with_or_without_gz(const fs::path& path) {
  if (is_there(path)) return path;
  const fs::path other = with_other_ending(path);
  return is_there(other) ? other : path;
}

Error missing(const DatasetOptions& options, const fs::path& path) {
  return Error("the data set " + options.name + " needs the file " + path.string() +
               " (or the same with .gz), which is not there: let --data-dir or STAGEWISE_DATA_DIR "
               "name the folder that holds " +
               options.name + "/ (now: " + data_folder(options).string() +
               "), or fetch the data as datasets/README.md says");
}

/// Where a file of a data set that has a folder of its own in the data folder should be.
fs::path place_of(const DatasetOptions& options, const std::string& name) {
  return data_folder(options) / options.name / name;
}

fs::path find_file(const DatasetOptions& options, const std::string& name) {
  fs::path path = with_or_without_gz(place_of(options, name));
  if (!is_there(path)) throw missing(options, path);
  return path;
}

/// MNIST and what was made in its likeness: four files with the names that MNIST gave them.
std::string mnist_images(Part part) {
  return std::string(part == Part::training ? "train" : "t10k") + "-images-idx3-ubyte";
}

Dataset mnist(const DatasetOptions& options, Part part, const Limit& limit) {
  const fs::path images = find_file(options, mnist_images(part));
  const fs::path labels = find_file(options, idx_labels_path(mnist_images(part)));
  return limit.of(read_idx(images, labels, 10));
}

std::vector<fs::path> mnist_files(const DatasetOptions& options) {
  std::vector<fs::path> files;
  for (const Part part : {Part::training, Part::test}) {
    files.push_back(place_of(options, mnist_images(part)));
    files.push_back(idx_labels_path(files.back()));
  }
  return files;
}

/// All batches of CIFAR-10's training set that a folder has, in order, or its test set. Where a
/// file is there plain and compressed, the plain one counts.
std::vector<fs::path> cifar10_batches(const fs::path& folder, Part part) {
  if (part == Part::test) {
    const fs::path file = with_or_without_gz(folder / "test_batch.bin");
    return is_there(file) ? std::vector{file} : std::vector<fs::path>{};
  }
  std::set<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (name.starts_with("data_batch_") && name.ends_with(".bin")) names.insert(name);
  }
  std::vector<fs::path> files;
  for (const std::string& name : names) files.push_back(with_or_without_gz(folder / name));
  // data_batch_10 is behind data_batch_9.
  std::stable_sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    const auto length = [](const fs::path& path) {
      const std::string name = path.filename().string();
      return name.find(".bin");
    };
    return length(a) < length(b);
  });
  return files;
}

/// "cifar-10-batches-bin" is what the original archive unpacks to; "cifar10-jpeg" is the name of a
/// part of CIFAR-10 whose pixels went through JPEG.
constexpr std::array<const char*, 3> cifar10_places = {"cifar10", "cifar10/cifar-10-batches-bin",
                                                       "cifar10-jpeg"};

Dataset cifar10(const DatasetOptions& options, Part part, const Limit& limit) {
  const fs::path folder = data_folder(options);
  for (const char* const place : cifar10_places) {
    const std::vector<fs::path> files = cifar10_batches(folder / place, part);
    if (!files.empty()) return limit.of(read_cifar10(files));
  }
  throw missing(options, (folder / "cifar10" /
                          (part == Part::training ? "data_batch_1.bin" : "test_batch.bin")));
}

std::vector<fs::path> cifar10_files(const DatasetOptions& options) {
  std::vector<fs::path> files;
  for (const char* const place : cifar10_places) {
    for (const Part part : {Part::training, Part::test}) {
      const std::vector<fs::path> found = cifar10_batches(data_folder(options) / place, part);
      files.insert(files.end(), found.begin(), found.end());
    }
  }
  return files;
}

// --- data sets that are a file ---

/// What a single file holds; a table is not standardized yet.
struct SingleFile {
  Dataset dataset;
  std::optional<TableEncoding> encoding;
};

SingleFile idx_file(const fs::path& images, const DatasetOptions&, const TableEncoding*) {
  return {read_idx(images, with_or_without_gz(idx_labels_path(images)), 0), {}};
}

SingleFile csv_file(const fs::path& path, const DatasetOptions& options,
                    const TableEncoding* known) {
  Table table = read_csv(path, options.label, known);
  return {std::move(table.dataset), std::move(table.encoding)};
}

SingleFile cifar10_file(const fs::path& path, const DatasetOptions&, const TableEncoding*) {
  return {read_cifar10({path}), {}};
}

SingleFile hdf5_file(const fs::path& path, const DatasetOptions&, const TableEncoding*) {
  return {read_hdf5(path), {}};
}

using ReadFile = SingleFile (*)(const fs::path&, const DatasetOptions&, const TableEncoding*);

struct Format {
  const char* name;
  ReadFile read;
};

constexpr std::array<Format, 4> formats = {{
    {"idx", idx_file},
    {"csv", csv_file},
    {"cifar10", cifar10_file},
    {"hdf5", hdf5_file},
}};

/// A data set with a name has training and test files, is generated without any, or is a single
/// file.
struct NamedSet {
  const char* name;
  Dataset (*load)(const DatasetOptions&, Part, const Limit&);
  std::vector<fs::path> (*files)(const DatasetOptions&) = nullptr;
  const char* file = nullptr;
  ReadFile read = nullptr;
};

constexpr std::array<NamedSet, 7> named_sets = {{
    {"digits", digits},
    {"gaussian", gaussian},
    {"step", step},
    {"mnist", mnist, mnist_files},
    {"fashion-mnist", mnist, mnist_files},
    {"cifar10", cifar10, cifar10_files},
    {"wholesale", nullptr, nullptr, "wholesale-customers.csv", csv_file},
}};

// --- both ---

template <typename Table>
std::string names_in(const Table& table) {
  std::string names;
  for (const auto& entry : table) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

template <typename Table>
const typename Table::value_type* find(const Table& table, const std::string& name) {
  const auto place = std::find_if(table.begin(), table.end(),
                                  [&](const auto& entry) { return entry.name == name; });
  return place == table.end() ? nullptr : &*place;
}

const NamedSet& named_set(const DatasetOptions& options) {
  if (const NamedSet* const set = find(named_sets, options.name)) return *set;
  std::error_code ignored;
  if (fs::is_regular_file(options.name, ignored)) {
    throw UsageError("--dataset " + options.name +
                     " is a file; --format must say which format it has (" + names_in(formats) +
                     ")");
  }
  throw UsageError("--dataset " + excerpt(options.name) +
                   " is not a data set of this version, which has " + names_in(named_sets) +
                   "; a path needs --format (" + names_in(formats) + ")" +
                   did_you_mean(options.name, dataset_names()));
}

const Format& format_of(const DatasetOptions& options) {
  if (const Format* const format = find(formats, options.format)) return *format;
  throw UsageError("--format " + excerpt(options.format) +
                   " is not a format of this version, which reads " + names_in(formats) +
                   did_you_mean(options.format, format_names()));
}

/// What reads the one file that the options mean; null if the data set is not made of one.
ReadFile file_reader(const DatasetOptions& options) {
  return options.format.empty() ? named_set(options).read : format_of(options).read;
}

/// The one file that the options mean; none if the data set is not made of one.
struct FileToRead {
  fs::path path;
  ReadFile read = nullptr;
};

FileToRead file_to_read(const DatasetOptions& options) {
  const ReadFile read = file_reader(options);
  if (!options.label.empty() && read != csv_file) {
    throw UsageError("--label names a column of a CSV file, but " + options.name + " is none");
  }
  if (read == nullptr) return {};
  const bool has_name = options.format.empty();
  return {has_name ? find_file(options, named_set(options).file) : fs::path(options.name), read};
}

/// Training and test set out of one file.
Split split_file(const FileToRead& file, const DatasetOptions& options, const Limit& train_limit,
                 const Limit& test_limit) {
  const SingleFile all = file.read(file.path, options, nullptr);
  const Index size = all.dataset.size();
  if (size < 2) {
    throw Error(file.path.string() +
                " holds a single sample, which cannot be split into training and test set");
  }
  const std::vector<std::int32_t>& labels = all.dataset.labels();
  if (std::all_of(labels.begin(), labels.end(), [&](auto label) { return label == labels[0]; })) {
    throw Error(file.path.string() + " holds one class only, " + std::to_string(labels[0]) +
                ": there is nothing to tell apart");
  }
  const Index test = std::max<Index>(1, size / 5);
  const Index train = size - test;
  return {all.dataset.slice(0, train_limit.of(train)),
          {},
          all.dataset.slice(train, test_limit.of(test)),
          all.encoding,
          train,
          {}};
}

/// @param sample what one is called where it is no row of a table.
Origin origin_of(const DatasetOptions& options, const std::optional<TableEncoding>& encoding,
                 const std::string& sample, Index first_row = 0) {
  return {.name = options.name,
          .columns = encoding ? encoding->features : std::vector<std::string>(),
          .first_row = first_row,
          .sample = sample};
}

void expect_to_hold_all(const Split& split, const DatasetOptions& options) {
  const auto check = [&](const Dataset& part, const std::string& sample, Index first_row) {
    expect_to_hold(options.precision, part, origin_of(options, split.encoding, sample, first_row));
  };
  check(split.train, "training sample", 0);
  check(split.validation, "validation sample", split.train.size());
  check(split.test, "test sample", split.first_test_row);
}

/// With mean and deviation of the training samples only: test and validation samples stand for data
/// that nobody had when the network was trained.
void standardize_all(Split& split, const DatasetOptions& options) {
  const Standardization standardization =
      standardization_of(split.train, origin_of(options, split.encoding, "training sample"));
  split.train = standardize(split.train, standardization);
  split.test = standardize(split.test, standardization);
  if (split.validation.size() > 0) {
    split.validation = standardize(split.validation, standardization);
  }
  split.encoding->standardization = standardization;
}

void hold_out(Split& split, Index count) {
  const Index rest = split.train.size() - count;
  if (rest < 1) {
    throw UsageError("--validation " + std::to_string(count) +
                     " leaves nothing to train on: there " +
                     (split.train.size() == 1 ? "is " : "are ") +
                     count_of(split.train.size(), "training sample"));
  }
  split.validation = split.train.slice(rest, count);
  split.train = split.train.slice(0, rest);
}

}  // namespace

const std::vector<std::string>& dataset_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const NamedSet& set : named_sets) list.emplace_back(set.name);
    return list;
  }();
  return names;
}

const std::vector<std::string>& format_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Format& format : formats) list.emplace_back(format.name);
    return list;
  }();
  return names;
}

bool is_single_file(const DatasetOptions& options) {
  return file_reader(options) != nullptr;
}

bool is_table(const DatasetOptions& options) {
  return file_reader(options) == csv_file;
}

std::vector<fs::path> files_of(const DatasetOptions& options) {
  std::vector<fs::path> files;
  if (!options.format.empty()) {
    files.emplace_back(options.name);
    if (format_of(options).read == idx_file) files.push_back(idx_labels_path(options.name));
  } else if (const NamedSet& set = named_set(options); set.file != nullptr) {
    files.push_back(place_of(options, set.file));
  } else if (set.files != nullptr) {
    files = set.files(options);
  }
  for (std::size_t i = 0, count = files.size(); i < count; ++i) {
    files.push_back(with_other_ending(files[i]));
  }
  return files;
}

bool is_in_data_folder(const DatasetOptions& options) {
  if (!options.format.empty()) return false;
  const NamedSet& set = named_set(options);
  return set.file != nullptr || set.files != nullptr;
}

Split load_for_training(const DatasetOptions& options) {
  const Limit train_limit = limit_for(Part::training, options);
  const Limit test_limit = limit_for(Part::test, options);
  if (options.validation < 0) {
    throw UsageError("--validation is " + std::to_string(options.validation) +
                     ", but must not be negative");
  }
  const FileToRead file = file_to_read(options);
  Split split;
  if (file.read != nullptr) {
    split = split_file(file, options, train_limit, test_limit);
  } else {
    const NamedSet& set = named_set(options);
    split.train = set.load(options, Part::training, train_limit);
    split.test = set.load(options, Part::test, test_limit);
  }
  if (split.train.sample_shape() != split.test.sample_shape()) {
    throw Error("the training samples of " + options.name + " have the shape " +
                split.train.sample_shape().to_string() + ", but its test samples " +
                split.test.sample_shape().to_string());
  }
  if (options.validation > 0) hold_out(split, options.validation);
  split.fingerprint = fingerprint_of(split.train, split.encoding.has_value());
  if (split.encoding) standardize_all(split, options);
  expect_to_hold_all(split, options);
  return split;
}

Dataset load_for_evaluation(const DatasetOptions& options,
                            const std::optional<TableEncoding>& encoding) {
  Limit limit = limit_for(Part::test, options);
  const FileToRead file = file_to_read(options);
  if (file.read == nullptr) {
    Dataset set = named_set(options).load(options, Part::test, limit);
    expect_to_hold(options.precision, set, origin_of(options, {}, "test sample"));
    return set;
  }
  limit.samples = "sample";
  SingleFile all = file.read(file.path, options, encoding ? &*encoding : nullptr);
  const Origin origin = origin_of(options, all.encoding, "sample");
  if (all.encoding) {
    all.dataset = standardize(all.dataset, encoding ? encoding->standardization
                                                    : standardization_of(all.dataset, origin));
  }
  Dataset used = limit.of(std::move(all.dataset));
  expect_to_hold(options.precision, used, origin);
  return used;
}

}  // namespace stagewise

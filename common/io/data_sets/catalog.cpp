#include "io/data_sets/catalog.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

#include "io/data_sets/find_files.hpp"
#include "io/data_sets/formats.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

/// Only as many samples are generated as the limit lets through.
/// @param make from a number of samples, a seed and a purpose.
template <typename Make>
Dataset generated(const Make& make, const GeneratedSizes& sizes, Subset subset, const Limit& limit) {
  return subset == Subset::training ? make(limit.of(sizes.train), generated_data_seed, Purpose::training_data)
                                    : make(limit.of(sizes.test), generated_data_seed, Purpose::test_data);
}

Dataset digits(const DatasetOptions&, Subset subset, const Limit& limit) {
  return generated(make_digits, digits_sizes, subset, limit);
}

Dataset gaussian(const DatasetOptions& options, Subset subset, const Limit& limit) {
  check(options.gaussian);
  const auto make = [&](Index count, std::uint64_t seed, Purpose purpose) {
    return make_gaussian(options.gaussian, count, seed, purpose);
  };
  return generated(make, options.gaussian.sizes(), subset, limit);
}

Dataset step(const DatasetOptions&, Subset subset, const Limit& limit) {
  return generated(make_step, step_sizes, subset, limit);
}

/// The folder that contains a folder for each named data set.
fs::path data_folder(const DatasetOptions& options) {
  if (!options.data_dir.empty()) return options.data_dir;
  const char* const variable = std::getenv("STAGEWISE_DATA_DIR");
  return variable != nullptr && *variable != '\0' ? variable : "datasets";
}

/// A file of a named data set, with or without ".gz".
/// @throws Error if it is missing.
fs::path existing(const DatasetOptions& options, const fs::path& file) {
  fs::path path = with_or_without_gz(file);
  if (is_there(path)) return path;
  throw Error("the data set " + options.name + " needs the file " + path.string() +
              " (or the same with .gz), which is not there" + what_is_in(path.parent_path()) +
              ": let --data-dir or STAGEWISE_DATA_DIR "
              "name the folder that holds " +
              options.name + "/ (now: " + data_folder(options).string() +
              "), or fetch the data as datasets/README.md says");
}

/// MNIST and data sets of the same form: four files with MNIST's names, or with those of other archives, which may
/// have a prefix, and a dot for a dash.
std::vector<fs::path> mnist_files(const DatasetOptions& options, Subset subset) {
  const bool training = subset == Subset::training;
  const fs::path images = idx_file_like(
      data_folder(options) / options.name / (training ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte"),
      [&](const std::string& stem) {
        return stem.ends_with(training ? "train-images" : "test-images") ||
               (!training && stem.ends_with("t10k-images"));
      });
  return {images, labels_of(images)};
}

/// All batches of CIFAR-10's training set that a folder has, in order. Where a file is there plain
/// and compressed, the plain one counts.
std::vector<fs::path> cifar10_batches(const fs::path& folder) {
  std::set<std::pair<std::size_t, std::string>> names;  // data_batch_10 is behind data_batch_9
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (name.starts_with("data_batch_") && name.ends_with(".bin")) names.insert({name.size(), name});
  }
  std::vector<fs::path> files;
  for (const auto& [length, name] : names) files.push_back(with_or_without_gz(folder / name));
  return files;
}

/// Those of the first place that has any: "cifar-10-batches-bin" is what the original archive
/// unpacks to; "cifar10-jpeg" is the name of a part of CIFAR-10 whose pixels went through JPEG.
std::vector<fs::path> cifar10_files(const DatasetOptions& options, Subset subset) {
  const char* const first = subset == Subset::training ? "data_batch_1.bin" : "test_batch.bin";
  for (const char* const place : {"cifar10", "cifar10/cifar-10-batches-bin", "cifar10-jpeg"}) {
    const fs::path folder = data_folder(options) / place;
    std::vector<fs::path> files =
        subset == Subset::training ? cifar10_batches(folder) : std::vector{with_or_without_gz(folder / first)};
    if (!files.empty() && is_there(files[0])) return files;
  }
  return {data_folder(options) / "cifar10" / first};
}

/// Whether the images have a file of labels beside them.
bool has_idx_labels(const fs::path& images) {
  return images.filename().string().find("images") != std::string::npos &&
         is_there(with_or_without_gz(labels_of(images)));
}

SingleFile idx_file(const fs::path& images, const DatasetOptions& options, const TableEncoding*) {
  if (!options.needs_labels && !has_idx_labels(images)) return {read_idx_images(images), {}, false};
  const fs::path labels = with_or_without_gz(labels_of(images));
  if (is_there(images) && !is_there(labels)) {
    throw Error(images.string() + " needs its labels in " + labels.string() +
                " (with or without .gz), which is not there" + what_is_in(fs::absolute(images).parent_path()));
  }
  return {read_idx(images, labels, 0), {}};
}

SingleFile csv_file(const fs::path& path, const DatasetOptions& options, const TableEncoding* known) {
  Table table = read_csv(path, options.label, known, options.needs_labels);
  return {std::move(table.dataset), std::move(table.encoding), table.has_labels, std::move(table.note)};
}

SingleFile hdf5_file(const fs::path& path, const DatasetOptions& options, const TableEncoding*) {
  if (!options.needs_labels) {
    if (auto samples = read_hdf5_without_labels(path, options.hdf5)) return {std::move(*samples), {}, false};
  }
  return {read_hdf5(path, options.hdf5), {}};
}

/// Reads a file; a table must match `known`, unless that is null.
using ReadFile = SingleFile (*)(const fs::path& path, const DatasetOptions& options, const TableEncoding* known);

/// A data set with a name, which is generated or has files; or a format, of a single file.
struct Source {
  const char* name;
  Dataset (*generate)(const DatasetOptions&, Subset, const Limit&) = nullptr;
  std::vector<fs::path> (*files)(const DatasetOptions&, Subset) = nullptr;
  Dataset (*read)(const std::vector<fs::path>&) = nullptr;  ///< those of a subset
  ReadFile read_one = nullptr;                              ///< if there is a single file
  std::vector<std::string> class_names = {};
};

Dataset read_mnist(const std::vector<fs::path>& files) { return read_idx(files[0], files[1], 10); }

const std::vector<Source> named_sets = {
    {.name = "digits", .generate = digits},
    {.name = "gaussian", .generate = gaussian},
    {.name = "step", .generate = step},
    {.name = "mnist", .files = mnist_files, .read = read_mnist},
    {.name = "fashion-mnist",
     .files = mnist_files,
     .read = read_mnist,
     .class_names = {"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag",
                     "ankle boot"}},
    {.name = "cifar10",
     .files = cifar10_files,
     .read = read_cifar10,
     .class_names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}},
    {.name = "wholesale",
     .files = [](const DatasetOptions& options,
                 Subset) { return std::vector{data_folder(options) / "wholesale/wholesale-customers.csv"}; },
     .read_one = csv_file}};

const std::vector<Source> formats = {
    {.name = "idx", .read_one = idx_file},
    {.name = "csv", .read_one = csv_file},
    {.name = "cifar10",
     .read_one = [](const fs::path& path, const DatasetOptions&, const TableEncoding*) -> SingleFile {
       return {read_cifar10({path}), {}};
     }},
    {.name = "hdf5", .read_one = hdf5_file}};

std::vector<std::string> names_of(const std::vector<Source>& table) {
  std::vector<std::string> names;
  for (const Source& entry : table) names.emplace_back(entry.name);
  return names;
}

const Source* find(const std::vector<Source>& table, const std::string& name) {
  const auto place = std::ranges::find(table, name, &Source::name);
  return place == table.end() ? nullptr : &*place;
}

/// The data set that the options name, or the format of their file.
const Source& source_of(const DatasetOptions& options) {
  const bool is_path = !options.format.empty();
  const Source* const source = is_path ? find(formats, options.format) : find(named_sets, options.name);
  if (source != nullptr) return *source;
  if (is_path) {
    throw OptionError("--format " + excerpt(options.format) + " is not a format of this version, which reads " +
                          list_of(format_names()) + did_you_mean(options.format, format_names()),
                      {"format"});
  }
  std::error_code ignored;
  const std::string known = " (" + list_of(format_names()) + ")";
  const std::string what = fs::is_regular_file(options.name, ignored)
                               ? options.name + " is a file; --format must say which format it has" + known
                               : excerpt(options.name) + " is not a data set of this version, which has " +
                                     list_of(dataset_names()) + "; a path needs --format" + known +
                                     did_you_mean(options.name, dataset_names());
  throw OptionError("--dataset " + what, {"dataset", "format"});
}

}  // namespace

std::vector<std::string> dataset_names() { return names_of(named_sets); }

std::vector<std::string> class_names_of(const std::string& dataset) {
  const Source* const set = find(named_sets, dataset);
  return set == nullptr ? std::vector<std::string>() : set->class_names;
}

std::vector<std::string> format_names() { return names_of(formats); }

bool is_single_file(const DatasetOptions& options) { return source_of(options).read_one != nullptr; }

bool is_table(const DatasetOptions& options) { return source_of(options).read_one == csv_file; }

std::vector<fs::path> files_of(const DatasetOptions& options) {
  const Source& source = source_of(options);
  std::vector<fs::path> files;
  if (!options.format.empty()) files.emplace_back(options.name);
  if (source.read_one == idx_file && (options.needs_labels || has_idx_labels(options.name))) {
    files.push_back(labels_of(options.name));
  }
  if (source.files != nullptr) {
    for (const Subset subset : {Subset::training, Subset::test}) {
      const std::vector<fs::path> some = source.files(options, subset);
      files.insert(files.end(), some.begin(), some.end());
    }
  }
  for (std::size_t i = 0, count = files.size(); i < count; ++i) {
    files.push_back(with_other_ending(files[i]));
  }
  return files;
}

bool is_hdf5(const DatasetOptions& options) { return source_of(options).read_one == hdf5_file; }

bool is_in_data_folder(const DatasetOptions& options) { return source_of(options).files != nullptr; }

std::optional<SingleFile> read_single_file(const DatasetOptions& options, const TableEncoding* known) {
  const Source& source = source_of(options);
  if (!options.label.empty() && source.read_one != csv_file) {
    throw OptionError("--label names a column of a CSV file, but " + options.name + " is none", {"label"});
  }
  if (source.read_one == nullptr) return {};
  const fs::path path =
      source.files == nullptr ? fs::path(options.name) : existing(options, source.files(options, Subset::test)[0]);
  return source.read_one(path, options, known);
}

Dataset load_subset(const DatasetOptions& options, Subset subset, const Limit& limit) {
  const Source& source = source_of(options);
  if (source.generate != nullptr) return source.generate(options, subset, limit);
  std::vector<fs::path> files = source.files(options, subset);
  for (fs::path& file : files) file = existing(options, file);
  return limit.of(source.read(files));
}

}  // namespace stagewise

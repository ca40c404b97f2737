#include "io/data_sets/catalog.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>
#include <utility>

#include "io/data_sets/cifar10.hpp"
#include "io/data_sets/data_folder.hpp"
#include "io/data_sets/hdf5_data.hpp"
#include "io/data_sets/idx.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/near_miss.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

// --- data sets that have a name ---

/// Only as many samples are generated as the limit lets through.
/// @param make from a number of samples, a seed and a purpose.
template <typename Make>
Dataset generated(const Make& make, const GeneratedSizes& sizes, Subset subset,
                  const Limit& limit) {
  return subset == Subset::training
             ? make(limit.of(sizes.train), generated_data_seed, Purpose::training_data)
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

/// MNIST and data sets of the same form: four files with MNIST's names.
std::string mnist_images(Subset subset) {
  return std::string(subset == Subset::training ? "train" : "t10k") + "-images-idx3-ubyte";
}

Dataset mnist(const DatasetOptions& options, Subset subset, const Limit& limit) {
  const fs::path images = find_file(options, mnist_images(subset));
  const fs::path labels = find_file(options, idx_labels_path(mnist_images(subset)));
  return limit.of(read_idx(images, labels, 10));
}

std::vector<fs::path> mnist_files(const DatasetOptions& options) {
  std::vector<fs::path> files;
  for (const Subset subset : {Subset::training, Subset::test}) {
    files.push_back(place_of(options, mnist_images(subset)));
    files.push_back(idx_labels_path(files.back()));
  }
  return files;
}

/// All batches of CIFAR-10's training set that a folder has, in order, or its test set. Where a
/// file is there plain and compressed, the plain one counts.
std::vector<fs::path> cifar10_batches(const fs::path& folder, Subset subset) {
  if (subset == Subset::test) {
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

Dataset cifar10(const DatasetOptions& options, Subset subset, const Limit& limit) {
  const fs::path folder = data_folder(options);
  for (const char* const place : cifar10_places) {
    const std::vector<fs::path> files = cifar10_batches(folder / place, subset);
    if (!files.empty()) return limit.of(read_cifar10(files));
  }
  throw missing_file(
      options,
      (folder / "cifar10" / (subset == Subset::training ? "data_batch_1.bin" : "test_batch.bin")));
}

std::vector<fs::path> cifar10_files(const DatasetOptions& options) {
  std::vector<fs::path> files;
  for (const char* const place : cifar10_places) {
    for (const Subset subset : {Subset::training, Subset::test}) {
      const std::vector<fs::path> found = cifar10_batches(data_folder(options) / place, subset);
      files.insert(files.end(), found.begin(), found.end());
    }
  }
  return files;
}

// --- data sets that are a file ---

/// Whether the images have a file of labels beside them.
bool has_idx_labels(const fs::path& images) {
  const bool can_have = images.filename().string().find("images") != std::string::npos;
  return can_have && is_there(with_or_without_gz(idx_labels_path(images)));
}

SingleFile idx_file(const fs::path& images, const DatasetOptions& options, const TableEncoding*) {
  if (!options.needs_labels && !has_idx_labels(images)) return {read_idx_images(images), {}, false};
  return {read_idx(images, with_or_without_gz(idx_labels_path(images)), 0), {}};
}

SingleFile csv_file(const fs::path& path, const DatasetOptions& options,
                    const TableEncoding* known) {
  if (!options.needs_labels && known != nullptr) {
    if (auto table = read_csv_without_labels(path, options.label, *known)) {
      return {std::move(table->dataset), std::move(table->encoding), false};
    }
  }
  Table table = read_csv(path, options.label, known);
  return {std::move(table.dataset), std::move(table.encoding)};
}

SingleFile cifar10_file(const fs::path& path, const DatasetOptions&, const TableEncoding*) {
  return {read_cifar10({path}), {}};
}

SingleFile hdf5_file(const fs::path& path, const DatasetOptions& options, const TableEncoding*) {
  if (!options.needs_labels) {
    if (auto samples = read_hdf5_without_labels(path)) return {std::move(*samples), {}, false};
  }
  return {read_hdf5(path), {}};
}

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
  Dataset (*load)(const DatasetOptions&, Subset, const Limit&);
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
    throw OptionError("--dataset " + options.name +
                          " is a file; --format must say which format it has (" +
                          names_in(formats) + ")",
                      {"dataset", "format"});
  }
  throw OptionError("--dataset " + excerpt(options.name) +
                        " is not a data set of this version, which has " + names_in(named_sets) +
                        "; a path needs --format (" + names_in(formats) + ")" +
                        did_you_mean(options.name, dataset_names()),
                    {"dataset", "format"});
}

const Format& format_of(const DatasetOptions& options) {
  if (const Format* const format = find(formats, options.format)) return *format;
  throw OptionError("--format " + excerpt(options.format) +
                        " is not a format of this version, which reads " + names_in(formats) +
                        did_you_mean(options.format, format_names()),
                    {"format"});
}

/// What reads the one file that the options mean; null if the data set is not made of one.
ReadFile file_reader(const DatasetOptions& options) {
  return options.format.empty() ? named_set(options).read : format_of(options).read;
}

}  // namespace

Index Limit::of(Index available) const {
  if (count && *count > available) {
    throw OptionError("--" + option + " " + std::to_string(*count) + " asks for more than the " +
                          count_of(available, samples) + " of " + set,
                      {option});
  }
  return count.value_or(available);
}

Dataset Limit::of(Dataset all) const {
  const Index used = of(all.size());
  return used == all.size() ? std::move(all) : all.slice(0, used);
}

const std::vector<std::string>& dataset_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const NamedSet& set : named_sets) list.emplace_back(set.name);
    return list;
  }();
  return names;
}

std::vector<std::string> class_names_of(const std::string& dataset) {
  if (dataset == "fashion-mnist") {
    return {"T-shirt/top", "trouser", "pullover", "dress", "coat",
            "sandal",      "shirt",   "sneaker",  "bag",   "ankle boot"};
  }
  if (dataset == "cifar10") {
    return {"airplane", "automobile", "bird",  "cat",  "deer",
            "dog",      "frog",       "horse", "ship", "truck"};
  }
  return {};
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
    if (format_of(options).read == idx_file &&
        (options.needs_labels || has_idx_labels(options.name))) {
      files.push_back(idx_labels_path(options.name));
    }
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

FileToRead file_to_read(const DatasetOptions& options) {
  const ReadFile read = file_reader(options);
  if (!options.label.empty() && read != csv_file) {
    throw OptionError("--label names a column of a CSV file, but " + options.name + " is none",
                      {"label"});
  }
  if (read == nullptr) return {};
  const bool has_name = options.format.empty();
  return {has_name ? find_file(options, named_set(options).file) : fs::path(options.name), read};
}

Dataset load_subset(const DatasetOptions& options, Subset subset, const Limit& limit) {
  return named_set(options).load(options, subset, limit);
}

}  // namespace stagewise

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/data_sets/formats.hpp"
#include "io/foreign.hpp"
#include "io/hdf5.hpp"
#include "tensor/counts.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using hdf5::list;
using Set = hdf5::NumberSet;

/// Reads one file.
class DataReader {
 public:
  DataReader(const fs::path& path, const Hdf5Names& names)
      : file_(path, "cannot read " + path.string()), x_(fs::path("/") / names.x), y_(fs::path("/") / names.y) {}

  bool has_labels() const { return has(y_); }

  /// @param with_labels otherwise, all samples have class 0, which means nothing.
  Dataset read(bool with_labels) const {
    const Set x = open_set(x_, "--x");
    if (x.dimensions.size() < 2 || x.dimensions.size() > 4) {
      throw failure(excerpt(x_) + " has the shape " + list(x.dimensions) +
                    ", but must be [N, features], [N, height, width] or [N, height, width, channels]");
    }
    if (!with_labels) {
      return Dataset(sample_of(x), 1, features_of(x), std::vector<std::int32_t>(x.dimensions[0]));
    }
    const Set y = open_set(y_, "--y");
    if (y.dimensions.size() != 1 && y.dimensions.size() != 2) {
      throw failure(excerpt(y_) + " has the shape " + list(y.dimensions) +
                    ", but must be [N] (class numbers) or [N, classes] (one-hot)");
    }
    if (x.dimensions[0] != y.dimensions[0]) {
      throw failure(excerpt(x_) + " holds " + count_of(static_cast<std::int64_t>(x.dimensions[0]), "sample") +
                    ", but " + excerpt(y_) + " " + with_thousands(static_cast<std::int64_t>(y.dimensions[0])));
    }
    std::vector<double> features = features_of(x);
    const bool one_hot = y.dimensions.size() == 2 && y.dimensions[1] > 1;
    auto [classes, labels] = one_hot ? from_one_hot(y) : from_numbers(y);
    return Dataset(sample_of(x), classes, std::move(features), std::move(labels));
  }

 private:
  Error failure(const std::string& reason) const { return file_.failure(reason); }

  /// Whether the file has this, without a link on the way there, which open() refuses.
  bool has(const std::string& path) const {
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
      if (!file_.has(path.substr(0, end).c_str())) return false;
      file_.open(path.substr(0, end));
    }
    return file_.has(path.c_str());
  }

  /// Adds "/images [100, 28, 28]" of each data set below a group. Only what can be opened counts: this is for a
  /// sentence.
  void describe(const std::string& group, std::vector<std::string>& sets) const try {
    constexpr std::size_t most = 20;
    constexpr std::size_t deepest = 100;
    if (group.size() > deepest) return;
    for (const std::string& name : file_.names_in(group)) {
      const std::string path = group + "/" + name;
      const hdf5::Handle object = file_.open(path);
      const H5I_type_t kind = H5Iget_type(object.id());
      if (kind == H5I_GROUP) describe(path, sets);
      const hdf5::Handle space(kind == H5I_DATASET ? H5Dget_space(object.id()) : -1, H5Sclose);
      if (!space || sets.size() == most) continue;
      std::vector<hsize_t> dimensions(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.id()))));
      H5Sget_simple_extent_dims(space.id(), dimensions.data(), nullptr);
      sets.push_back(excerpt(path) + " " + list(dimensions));
    }
  } catch (const Error&) {
    return;
  }

  /// @param option names another one.
  Set open_set(const std::string& path, const std::string& option) const {
    if (!has(path)) {
      if (file_.is_of_keras()) throw failure(kind_of_keras);
      std::vector<std::string> sets;
      describe("", sets);
      throw failure("it has no data set " + excerpt(path) +
                    (sets.empty() ? "" : "; it has " + list_of(sets) + ", and " + option + " names another"));
    }
    Set set = file_.open_set(path);
    if (std::count(set.dimensions.begin(), set.dimensions.end(), 0) == 0) return set;
    throw failure(set.path + " has the shape " + list(set.dimensions) + ", which holds nothing");
  }

  struct Classes {
    int count;
    std::vector<std::int32_t> labels;
  };

  static Shape sample_of(const Set& x) {
    const auto d = [&](std::size_t i) { return static_cast<Index>(x.dimensions[i]); };
    if (x.dimensions.size() == 2) return Shape{d(1)};
    if (x.dimensions.size() == 3) return Shape{d(1), d(2), 1};
    return has_channels_first(x) ? Shape{d(2), d(3), d(1)} : Shape{d(1), d(2), d(3)};
  }

  /// Images are higher and wider than the number of their colors.
  static bool has_channels_first(const Set& x) {
    const std::vector<hsize_t>& d = x.dimensions;
    return d.size() == 4 && (d[1] == 1 || d[1] == 3 || d[1] == 4) && d[2] > 4 && d[3] > 4;
  }

  /// The values of images whose channels came first.
  static std::vector<double> with_channels_last(const std::vector<double>& values, const Set& x) {
    const std::size_t channels = x.dimensions[1];
    const std::size_t plane = x.dimensions[2] * x.dimensions[3];
    std::vector<double> result;
    result.reserve(values.size());
    for (auto image = values.begin(); image != values.end(); image += static_cast<std::ptrdiff_t>(channels * plane)) {
      for (std::size_t i = 0; i < channels * plane; ++i) {
        result.push_back(image[static_cast<std::ptrdiff_t>(i % channels * plane + i / channels)]);
      }
    }
    return result;
  }

  std::vector<double> features_of(const Set& x) const {
    std::vector<double> features = file_.values_of(x);
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (std::isfinite(features[i])) continue;
      const std::size_t width = features.size() / x.dimensions[0];
      throw failure("value " + std::to_string(i % width) + " of sample " + std::to_string(i / width) +
                    " (counted from 0) in " + excerpt(x_) + " is not finite");
    }
    return has_channels_first(x) ? with_channels_last(features, x) : features;
  }

  Classes from_one_hot(const Set& y) const {
    const std::vector<double> values = file_.values_of(y);
    const std::size_t columns = y.dimensions[1];
    if (columns > static_cast<std::size_t>(max_classes)) throw too_many();
    Classes result = {static_cast<int>(columns), {}};
    for (std::size_t i = 0; i < values.size(); i += columns) {
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = row + static_cast<std::ptrdiff_t>(columns);
      const auto one = std::find(row, end, 1.0);
      if (one == end || std::count(row, end, 0.0) != static_cast<std::ptrdiff_t>(columns) - 1) {
        throw failure("row " + std::to_string(i / columns) + " (counted from 0) of " + excerpt(y_) +
                      " is not one-hot: a single 1, else 0");
      }
      result.labels.push_back(static_cast<std::int32_t>(one - row));
    }
    return result;
  }

  Classes from_numbers(const Set& y) const {
    Classes result = {0, {}};
    for (const double value : file_.values_of(y)) {
      if (!(value >= 0) || value != std::floor(value) || std::isinf(value)) {
        throw failure("entry " + std::to_string(result.labels.size()) + " (counted from 0) of " + excerpt(y_) +
                      " is no class number: 0, 1, 2, ...");
      }
      if (value >= max_classes) throw too_many();
      result.labels.push_back(static_cast<std::int32_t>(value));
      result.count = std::max(result.count, result.labels.back() + 1);
    }
    return result;
  }

  /// More than that is more likely something that is no class: a network of so many outputs would
  /// only run out of memory.
  static constexpr int max_classes = 65536;

  Error too_many() const {
    return failure(excerpt(y_) + " would mean more than " + with_thousands(max_classes) +
                   " classes, the most that are used");
  }

  hdf5::InputFile file_;
  std::string x_;
  std::string y_;
};

}  // namespace

Dataset read_hdf5(const fs::path& path, const Hdf5Names& names) { return DataReader(path, names).read(true); }

std::optional<Dataset> read_hdf5_without_labels(const fs::path& path, const Hdf5Names& names) {
  const DataReader reader(path, names);
  if (reader.has_labels()) return std::nullopt;
  return reader.read(false);
}

}  // namespace stagewise

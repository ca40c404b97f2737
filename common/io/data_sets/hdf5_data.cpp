#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/data_sets/formats.hpp"
#include "io/hdf5.hpp"
#include "tensor/counts.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using hdf5::list;
using Set = hdf5::NumberSet;

/// Reads one file.
class DataReader {
 public:
  explicit DataReader(const fs::path& path) : file_(path, "cannot read " + path.string()) {}

  bool has_labels() const { return file_.has("/y"); }

  /// @param with_labels otherwise, all samples have class 0, which means nothing.
  Dataset read(bool with_labels) const {
    const Set x = open_set("/x");
    if (x.dimensions.size() != 2 && x.dimensions.size() != 4) {
      throw failure("/x has the shape " + list(x.dimensions) +
                    ", but must be [N, features] or [N, height, width, channels]");
    }
    if (!with_labels) {
      return Dataset(sample_of(x), 1, features_of(x), std::vector<std::int32_t>(x.dimensions[0]));
    }
    const Set y = open_set("/y");
    if (y.dimensions.size() != 1 && y.dimensions.size() != 2) {
      throw failure("/y has the shape " + list(y.dimensions) +
                    ", but must be [N] (class numbers) or [N, classes] (one-hot)");
    }
    if (x.dimensions[0] != y.dimensions[0]) {
      throw failure("/x holds " + count_of(static_cast<std::int64_t>(x.dimensions[0]), "sample") + ", but /y " +
                    with_thousands(static_cast<std::int64_t>(y.dimensions[0])));
    }
    std::vector<double> features = features_of(x);
    const bool one_hot = y.dimensions.size() == 2 && y.dimensions[1] > 1;
    auto [classes, labels] = one_hot ? from_one_hot(y) : from_numbers(y);
    return Dataset(sample_of(x), classes, std::move(features), std::move(labels));
  }

 private:
  Error failure(const std::string& reason) const { return file_.failure(reason); }

  Set open_set(const char* path) const {
    if (!file_.has(path)) throw failure(std::string("it has no data set ") + path);
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
    return x.dimensions.size() == 2 ? Shape{d(1)} : Shape{d(1), d(2), d(3)};
  }

  std::vector<double> features_of(const Set& x) const {
    std::vector<double> features = file_.values_of(x);
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (std::isfinite(features[i])) continue;
      const std::size_t width = features.size() / x.dimensions[0];
      throw failure("value " + std::to_string(i % width) + " of sample " + std::to_string(i / width) +
                    " (counted from 0) in /x is not finite");
    }
    return features;
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
        throw failure("row " + std::to_string(i / columns) +
                      " (counted from 0) of /y is not one-hot: a single 1, else 0");
      }
      result.labels.push_back(static_cast<std::int32_t>(one - row));
    }
    return result;
  }

  Classes from_numbers(const Set& y) const {
    Classes result = {0, {}};
    for (const double value : file_.values_of(y)) {
      if (!(value >= 0) || value != std::floor(value) || std::isinf(value)) {
        throw failure("entry " + std::to_string(result.labels.size()) +
                      " (counted from 0) of /y is no class number: 0, 1, 2, ...");
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
    return failure("/y would mean more than " + with_thousands(max_classes) + " classes, the most that are used");
  }

  hdf5::InputFile file_;
};

}  // namespace

Dataset read_hdf5(const fs::path& path) { return DataReader(path).read(true); }

std::optional<Dataset> read_hdf5_without_labels(const fs::path& path) {
  const DataReader reader(path);
  if (reader.has_labels()) return std::nullopt;
  return reader.read(false);
}

}  // namespace stagewise

#include "io/data_sets/hdf5_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "io/hdf5.hpp"
#include "io/hdf5_numbers.hpp"
#include "io/regular_file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using hdf5::Handle;
using hdf5::list;

/// Reads one file; every failure becomes a sentence with the file's name.
class Reader {
 public:
  explicit Reader(fs::path path) : path_(std::move(path)), file_(open()) {}

  bool has_labels() const { return H5Lexists(file_.id(), "/y", H5P_DEFAULT) > 0; }

  /// Samples without labels: all have class 0, which means nothing.
  Dataset read_samples() const {
    const Set x = open_set("/x");
    check(x);
    std::vector<std::int32_t> labels(x.dimensions[0]);
    return Dataset(sample_of(x), 1, features_of(x), std::move(labels));
  }

  Dataset read() const {
    const Set x = open_set("/x");
    const Set y = open_set("/y");
    check(x);
    if (y.dimensions.size() != 1 && y.dimensions.size() != 2) {
      throw failure("/y has the shape " + list(y.dimensions) +
                    ", but must be [N] (class numbers) or [N, classes] (one-hot)");
    }
    expect_not_empty(y);
    if (x.dimensions[0] != y.dimensions[0]) {
      throw failure("/x holds " + count_of(static_cast<std::int64_t>(x.dimensions[0]), "sample") +
                    ", but /y " + with_thousands(static_cast<std::int64_t>(y.dimensions[0])));
    }
    std::vector<double> features = features_of(x);
    const bool one_hot = y.dimensions.size() == 2 && y.dimensions[1] > 1;
    auto [classes, labels] = one_hot ? from_one_hot(y) : from_numbers(y);
    return Dataset(sample_of(x), classes, std::move(features), std::move(labels));
  }

 private:
  struct Set {
    std::string name;
    Handle handle;
    std::vector<hsize_t> dimensions;
  };

  struct Classes {
    int count;
    std::vector<std::int32_t> labels;
  };

  /// @throws Error if the set cannot hold samples.
  void check(const Set& x) const {
    if (x.dimensions.size() != 2 && x.dimensions.size() != 4) {
      throw failure("/x has the shape " + list(x.dimensions) +
                    ", but must be [N, features] or [N, height, width, channels]");
    }
    expect_not_empty(x);
  }

  void expect_not_empty(const Set& set) const {
    if (std::count(set.dimensions.begin(), set.dimensions.end(), 0) == 0) return;
    throw failure(set.name + " has the shape " + list(set.dimensions) + ", which holds nothing");
  }

  static Shape sample_of(const Set& x) {
    const auto d = [&](std::size_t i) { return static_cast<Index>(x.dimensions[i]); };
    return x.dimensions.size() == 2 ? Shape{d(1)} : Shape{d(1), d(2), d(3)};
  }

  std::vector<double> features_of(const Set& x) const {
    std::vector<double> features = values_of(x);
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (std::isfinite(features[i])) continue;
      const std::size_t width = features.size() / x.dimensions[0];
      throw failure("value " + std::to_string(i % width) + " of sample " +
                    std::to_string(i / width) + " (counted from 0) in /x is not finite");
    }
    return features;
  }

  Error failure(const std::string& reason) const {
    return Error("cannot read " + path_.string() + ": " + reason);
  }

  Handle open() const {
    std::error_code error;
    const std::string objection = objection_to_reading(path_);
    if (!objection.empty()) throw failure(objection);
    if (fs::file_size(path_, error) == 0) throw failure("the file is empty");
    if (H5Fis_hdf5(path_.c_str()) == 0) throw failure("it is not an HDF5 file");
    Handle file = hdf5::open_file(path_);
    if (!file) throw failure("it is damaged, cut short, or may not be opened");
    return file;
  }

  Set open_set(const std::string& name) const {
    if (H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) <= 0) {
      throw failure("it has no data set " + name);
    }
    // A link may lead to another file, and a data set may keep its values there. What is read is
    // what the path names.
    H5L_info_t link{};
    if (H5Lget_info(file_.id(), name.c_str(), &link, H5P_DEFAULT) < 0) {
      throw failure(name + " is damaged");
    }
    if (link.type != H5L_TYPE_HARD) throw failure(name + " is a link to elsewhere");
    const Handle object(H5Oopen(file_.id(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) throw failure(name + " is damaged");
    if (H5Iget_type(object.id()) != H5I_DATASET) throw failure(name + " is not a data set");
    Handle set(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set) throw failure(name + " is damaged");
    const Handle space(H5Dget_space(set.id()), H5Sclose);
    if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) throw failure(name + " holds nothing");
    const std::string objection = hdf5::objection_to(set, fs::file_size(path_));
    if (!objection.empty()) throw failure(name + " " + objection);
    std::vector<hsize_t> dimensions(
        static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.id())));
    H5Sget_simple_extent_dims(space.id(), dimensions.data(), nullptr);
    return {name, std::move(set), std::move(dimensions)};
  }

  std::vector<double> values_of(const Set& set) const {
    std::size_t count = 1;
    for (const hsize_t length : set.dimensions) count *= length;
    std::vector<double> values(count);
    if (H5Dread(set.handle.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) <
        0) {
      throw failure("the values of " + set.name + " are damaged or cut short");
    }
    return values;
  }

  Classes from_one_hot(const Set& y) const {
    const std::vector<double> values = values_of(y);
    const std::size_t columns = y.dimensions[1];
    if (columns > static_cast<std::size_t>(max_classes)) throw too_many(columns);
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
    for (const double value : values_of(y)) {
      if (!(value >= 0) || value != std::floor(value) || std::isinf(value)) {
        throw failure("entry " + std::to_string(result.labels.size()) +
                      " (counted from 0) of /y is no class number: 0, 1, 2, ...");
      }
      if (value >= max_classes) throw too_many(value + 1);
      result.labels.push_back(static_cast<std::int32_t>(value));
      result.count = std::max(result.count, result.labels.back() + 1);
    }
    return result;
  }

  /// More than that is more likely something that is no class: a network of so many outputs would
  /// only run out of memory.
  static constexpr int max_classes = 65536;

  template <typename Number>
  Error too_many(Number found) const {
    constexpr double countable = 1e18;
    const auto count = static_cast<std::int64_t>(std::min(static_cast<double>(found), countable));
    return failure("/y would mean " + with_thousands(count) + " classes" +
                   (static_cast<double>(found) > countable ? " and more" : "") + ", but at most " +
                   with_thousands(max_classes) + " are used");
  }

  fs::path path_;
  Handle file_;
};

}  // namespace

Dataset read_hdf5(const fs::path& path) {
  const hdf5::Quiet quiet;
  return Reader(path).read();
}

std::optional<Dataset> read_hdf5_without_labels(const fs::path& path) {
  const hdf5::Quiet quiet;
  const Reader reader(path);
  if (reader.has_labels()) return std::nullopt;
  return reader.read_samples();
}

}  // namespace stagewise

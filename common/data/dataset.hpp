/// @file
/// A labelled set of samples in host memory, and what can be told of one: whether it is the same as
/// another, whether a precision holds its values, and how to scale features with different units.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tensor/shape.hpp"

namespace stagewise {

/// Samples of one shape, each with a class. Images are kept as bytes and become numbers in [0, 1]
/// only when a batch is gathered: MNIST takes 47 MB instead of 376 MB in double.
class Dataset {
 public:
  /// An empty set.
  Dataset() = default;

  /// Images, channel fastest: `pixels` holds `labels.size()` samples of shape `sample`
  /// ([height, width, channels]); a pixel's value is its byte divided by 255.
  /// @throws Error if the sizes do not fit together, or a label is not in {0, ..., classes - 1}.
  Dataset(const Shape& sample, int classes, std::vector<std::uint8_t> pixels, std::vector<std::int32_t> labels);

  /// Samples with real features, used as they are.
  /// @throws Error as above.
  Dataset(const Shape& sample, int classes, std::vector<double> features, std::vector<std::int32_t> labels);

  /// Number of samples.
  Index size() const { return std::ssize(labels_); }

  /// The indices of all samples: 0, 1, ...
  std::vector<std::uint32_t> all_samples() const;

  /// Shape of one sample: [height, width, channels], or [features].
  const Shape& sample_shape() const { return sample_; }

  int classes() const { return classes_; }

  const std::vector<std::int32_t>& labels() const { return labels_; }

  /// The stored bytes if the samples are images, else null.
  const std::vector<std::uint8_t>* pixels() const { return std::get_if<std::vector<std::uint8_t>>(&features_); }

  /// The stored numbers, one sample after another, if the samples are not images, else null.
  const std::vector<double>* values() const { return std::get_if<std::vector<double>>(&features_); }

  /// Copies the given samples, one after another, to `features`
  /// (`samples.size() * sample_shape().elements()` numbers).
  /// @param samples each less than size().
  template <typename T>
  void gather(std::span<const std::uint32_t> samples, T* features) const;

  /// Copies the classes of the given samples to `labels`.
  void gather_labels(std::span<const std::uint32_t> samples, std::int32_t* labels) const;

  /// A copy of the samples `first`, ..., `first + count - 1`.
  /// @throws Error if some of them do not exist.
  Dataset slice(Index first, Index count) const;

 private:
  void check(std::size_t feature_count) const;

  Shape sample_{0};
  int classes_ = 0;
  std::variant<std::vector<std::uint8_t>, std::vector<double>> features_;
  std::vector<std::int32_t> labels_;
};

/// Distinguishes one training set from another. Does not depend on the source of the data, nor on
/// the precision, the stage or the number of processes that train on them.
struct Fingerprint {
  Index samples = 0;         ///< those that are left for training
  std::string preparation;   ///< "divided by 255", "standardized" or "used as they are"
  std::uint64_t values = 0;  ///< a digest of the features before preparation, in order
  std::uint64_t labels = 0;  ///< a digest of the classes
};

/// @param training_set all of it, its features not standardized yet.
/// @param standardized whether they will be.
Fingerprint fingerprint_of(const Dataset& training_set, bool standardized);

/// Where a data set comes from, for error messages.
struct Origin {
  std::string name;                  ///< of the data set, or its file
  std::vector<std::string> columns;  ///< of a table's features; empty for other data
  Index first_row = 0;               ///< of a table: how many rows of the file come before the set
  std::string sample = "sample";     ///< what a sample of other data is called: "test sample"
};

/// "table.csv, row 5 below the header, column age", or "x.h5, sample 4, value 0 (counted from 0)".
std::string place_in(const Origin& origin, Index sample, Index feature);

/// @param precision "float" or "double".
/// @throws Error naming the first value that is infinite in this precision.
void expect_to_hold(const std::string& precision, const Dataset& dataset, const Origin& origin);

/// A mean and a standard deviation for every feature. A network sees (x - mean) / deviation, so a
/// column of thousands does not dominate one of fractions. They are part of what the network has
/// learned: test data, and all later data, are scaled in the same way.
struct Standardization {
  std::vector<double> mean;
  std::vector<double> deviation;  ///< 0 where all values are equal: that feature becomes 0
};

/// The means and the population deviations (divided by N, not N - 1) of a set's features.
/// @param dataset real features, not the bytes of images; at least one sample.
/// @param origin for the error that names a value.
/// @throws Error if it is something else, or its values are so large that a mean or a deviation is
///         not finite.
Standardization standardization_of(const Dataset& dataset, const Origin& origin = {.name = "the data set"});

/// The set with every feature standardized. A feature whose deviation is 0 becomes 0 everywhere.
/// @throws Error if the set does not have as many features as `standardization`, or they are not
///         real.
Dataset standardize(const Dataset& dataset, const Standardization& standardization);

}  // namespace stagewise

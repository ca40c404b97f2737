/// @file
/// A labelled set of samples in host memory.
#pragma once

#include <cstdint>
#include <span>
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
  Dataset(const Shape& sample, int classes, std::vector<std::uint8_t> pixels,
          std::vector<std::int32_t> labels);

  /// Samples with real features, used as they are.
  /// @throws Error as above.
  Dataset(const Shape& sample, int classes, std::vector<double> features,
          std::vector<std::int32_t> labels);

  /// Number of samples.
  Index size() const { return std::ssize(labels_); }

  /// The indices of all samples: 0, 1, ...
  std::vector<std::uint32_t> all_samples() const;

  /// Shape of one sample: [height, width, channels], or [features].
  const Shape& sample_shape() const { return sample_; }

  int classes() const { return classes_; }

  const std::vector<std::int32_t>& labels() const { return labels_; }

  /// The stored bytes if the samples are images, else null.
  const std::vector<std::uint8_t>* pixels() const {
    return std::get_if<std::vector<std::uint8_t>>(&features_);
  }

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

}  // namespace stagewise

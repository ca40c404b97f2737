#include "data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "tensor/counts.hpp"
#include "tensor/digest.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

const std::vector<double>& values_of(const Dataset& dataset) {
  if (dataset.values() == nullptr) throw Error("images are scaled by 255, not standardized");
  return *dataset.values();
}

/// The error that names the largest value of a feature.
Error too_large(const std::vector<double>& values, std::size_t features, std::size_t feature, const Origin& origin) {
  std::size_t largest = feature;
  for (std::size_t i = feature; i < values.size(); i += features) {
    if (std::abs(values[i]) > std::abs(values[largest])) largest = i;
  }
  return Error(place_in(origin, static_cast<Index>(largest / features), static_cast<Index>(feature)) +
               ": the value is too large for a mean and a deviation of this feature in double");
}

}  // namespace

Dataset::Dataset(const Shape& sample, int classes, std::vector<std::uint8_t> pixels, std::vector<std::int32_t> labels)
    : sample_(sample), classes_(classes), features_(std::move(pixels)), labels_(std::move(labels)) {
  check(std::get<0>(features_).size());
}

Dataset::Dataset(const Shape& sample, int classes, std::vector<double> features, std::vector<std::int32_t> labels)
    : sample_(sample), classes_(classes), features_(std::move(features)), labels_(std::move(labels)) {
  check(std::get<1>(features_).size());
}

std::vector<std::uint32_t> Dataset::all_samples() const {
  std::vector<std::uint32_t> all(static_cast<std::size_t>(size()));
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

void Dataset::check(std::size_t feature_count) const {
  if (feature_count != static_cast<std::size_t>(sample_.batched(size()).elements())) {
    throw Error("a data set of " + count_of(size(), "label") + " with samples of shape " + sample_.to_string() +
                " cannot hold " + count_of(static_cast<std::int64_t>(feature_count), "feature value"));
  }
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    if (labels_[i] < 0 || labels_[i] >= classes_) {
      throw Error("the label of sample " + std::to_string(i) + " is " + std::to_string(labels_[i]) +
                  ", but the classes are 0 to " + std::to_string(classes_ - 1));
    }
  }
}

template <typename T>
void Dataset::gather(std::span<const std::uint32_t> samples, T* features) const {
  const auto width = static_cast<std::size_t>(sample_.elements());
  if (const auto* bytes = pixels()) {
    for (const std::uint32_t sample : samples) {
      const std::uint8_t* const from = bytes->data() + sample * width;
      for (std::size_t j = 0; j < width; ++j) features[j] = static_cast<T>(from[j]) / T{255};
      features += width;
    }
  } else {
    const std::vector<double>& values = std::get<1>(features_);
    for (const std::uint32_t sample : samples) {
      const double* const from = values.data() + sample * width;
      for (std::size_t j = 0; j < width; ++j) features[j] = static_cast<T>(from[j]);
      features += width;
    }
  }
}

template void Dataset::gather(std::span<const std::uint32_t>, float*) const;
template void Dataset::gather(std::span<const std::uint32_t>, double*) const;

void Dataset::gather_labels(std::span<const std::uint32_t> samples, std::int32_t* labels) const {
  for (const std::uint32_t sample : samples) *labels++ = labels_[sample];
}

Dataset Dataset::slice(Index first, Index count) const {
  if (first < 0 || count < 0 || first > size() - count) {
    throw Error(count_of(count, "sample") + " from number " + std::to_string(first) +
                " on were asked for, but the data set has " + with_thousands(size()));
  }
  const Index width = sample_.elements();
  const auto cut = [&](const auto& values, Index scale) {
    return std::decay_t<decltype(values)>(values.begin() + first * scale, values.begin() + (first + count) * scale);
  };
  return std::visit(
      [&](const auto& features) { return Dataset(sample_, classes_, cut(features, width), cut(labels_, 1)); },
      features_);
}

Fingerprint fingerprint_of(const Dataset& training_set, bool standardized) {
  // Not of standardized features: a mean may differ in its last bits between two processors, what a
  // file holds does not.
  Digest values;
  if (training_set.pixels() != nullptr) values.add_all(*training_set.pixels());
  if (training_set.values() != nullptr) values.add_all(*training_set.values());
  Digest labels;
  labels.add_all(training_set.labels());
  const char* const otherwise = training_set.pixels() != nullptr ? "divided by 255" : "used as they are";
  return {.samples = training_set.size(),
          .preparation = standardized ? "standardized" : otherwise,
          .values = values.value(),
          .labels = labels.value()};
}

std::string place_in(const Origin& origin, Index sample, Index feature) {
  if (origin.columns.empty()) {
    return origin.name + ", " + origin.sample + " " + std::to_string(sample) + ", value " + std::to_string(feature) +
           " (counted from 0)";
  }
  return origin.name + ", row " + std::to_string(origin.first_row + sample + 1) + " below the header, column " +
         excerpt(origin.columns.at(static_cast<std::size_t>(feature)));
}

void expect_to_hold(const std::string& precision, const Dataset& dataset, const Origin& origin) {
  if (dataset.values() == nullptr) return;
  const bool is_float = precision == "float";
  const double most =
      is_float ? static_cast<double>(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
  const std::vector<double>& values = *dataset.values();
  const auto bad = std::find_if(values.begin(), values.end(), [most](double value) {
    return !(std::abs(value) <= most);  // also of a NaN
  });
  if (bad == values.end()) return;
  const Index width = dataset.sample_shape().elements();
  const Index at = bad - values.begin();
  throw Error(place_in(origin, at / width, at % width) + ": the value " +
              (origin.columns.empty() ? "is " : "becomes, standardized, ") + rounded(*bad) + ", and " + precision +
              " holds numbers up to " + rounded(most) +
              (is_float && std::isfinite(*bad) ? "; --precision double holds larger ones" : ""));
}

Standardization standardization_of(const Dataset& dataset, const Origin& origin) {
  const std::vector<double>& values = values_of(dataset);
  if (dataset.size() == 0) throw Error("a data set without samples has no mean");
  const auto features = static_cast<std::size_t>(dataset.sample_shape().elements());
  const auto samples = static_cast<double>(dataset.size());
  Standardization result = {std::vector<double>(features, 0.0), std::vector<double>(features, 0.0)};
  for (std::size_t i = 0; i < values.size(); ++i) result.mean[i % features] += values[i] / samples;

  // A second pass: E[x^2] - E[x]^2 in one would lose all digits where the mean is large.
  std::vector<bool> varies(features, false);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t j = i % features;
    const double difference = values[i] - result.mean[j];
    result.deviation[j] += difference * difference / samples;
    if (values[i] != values[j]) varies[j] = true;
  }
  for (std::size_t j = 0; j < features; ++j) {
    // Rounding of the mean must not make a constant feature vary.
    result.deviation[j] = varies[j] ? std::sqrt(result.deviation[j]) : 0;
    if (!std::isfinite(result.mean[j]) || !std::isfinite(result.deviation[j])) {
      throw too_large(values, features, j, origin);
    }
  }
  return result;
}

Dataset standardize(const Dataset& dataset, const Standardization& standardization) {
  std::vector<double> values = values_of(dataset);
  const auto features = static_cast<std::size_t>(dataset.sample_shape().elements());
  if (standardization.mean.size() != features || standardization.deviation.size() != features) {
    throw Error("the means and deviations of " +
                count_of(static_cast<std::int64_t>(standardization.mean.size()), "feature") +
                " do not fit samples of " + count_of(static_cast<std::int64_t>(features), "feature"));
  }
  //! [standardize]
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t j = i % features;
    const double deviation = standardization.deviation[j];
    values[i] = deviation == 0 ? 0 : (values[i] - standardization.mean[j]) / deviation;
  }
  //! [standardize]
  return Dataset(dataset.sample_shape(), dataset.classes(), std::move(values), dataset.labels());
}

}  // namespace stagewise

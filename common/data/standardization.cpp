#include "data/standardization.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "tensor/counts.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

const std::vector<double>& values_of(const Dataset& dataset) {
  if (dataset.values() == nullptr) throw Error("images are scaled by 255, not standardized");
  return *dataset.values();
}

/// The error that names the largest value of a feature.
Error too_large(const std::vector<double>& values, std::size_t features, std::size_t feature,
                const Origin& origin) {
  std::size_t largest = feature;
  for (std::size_t i = feature; i < values.size(); i += features) {
    if (std::abs(values[i]) > std::abs(values[largest])) largest = i;
  }
  return Error(
      place_in(origin, static_cast<Index>(largest / features), static_cast<Index>(feature)) +
      ": the value is too large for a mean and a deviation of this feature in double");
}

}  // namespace

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
                " do not fit samples of " +
                count_of(static_cast<std::int64_t>(features), "feature"));
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

/// @file
/// Scaling features with different units.
#pragma once

#include <vector>

#include "data/dataset.hpp"

namespace stagewise {

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
Standardization standardization_of(const Dataset& dataset,
                                   const Origin& origin = {.name = "the data set"});

/// The set with every feature standardized. A feature whose deviation is 0 becomes 0 everywhere.
/// @throws Error if the set does not have as many features as `standardization`, or they are not
///         real.
Dataset standardize(const Dataset& dataset, const Standardization& standardization);

}  // namespace stagewise

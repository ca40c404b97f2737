/// @file
/// Whether data are the same as those on which a network was trained.
#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.hpp"

namespace stagewise {

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

}  // namespace stagewise

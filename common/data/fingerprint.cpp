#include "data/fingerprint.hpp"

#include "tensor/digest.hpp"

namespace stagewise {

Fingerprint fingerprint_of(const Dataset& training_set, bool standardized) {
  // Not of standardized features: a mean may differ in its last bits between two processors, what a
  // file holds does not.
  Digest values;
  if (training_set.pixels() != nullptr) values.add_all(*training_set.pixels());
  if (training_set.values() != nullptr) values.add_all(*training_set.values());
  Digest labels;
  labels.add_all(training_set.labels());
  const char* const otherwise =
      training_set.pixels() != nullptr ? "divided by 255" : "used as they are";
  return {.samples = training_set.size(),
          .preparation = standardized ? "standardized" : otherwise,
          .values = values.value(),
          .labels = labels.value()};
}

}  // namespace stagewise

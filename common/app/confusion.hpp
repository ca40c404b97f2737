/// @file
/// Which classes a network takes for which.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/report.hpp"

namespace stagewise {

/// How many samples of each class have received each answer.
class Confusion {
 public:
  /// The most classes that can be counted.
  static constexpr int max_classes = 1000;

  /// @param classes at most max_classes.
  /// @param labels, answers one of each a sample; all less than `classes`.
  Confusion(int classes, std::span<const std::int32_t> labels,
            std::span<const std::int32_t> answers);

  int classes() const { return classes_; }

  /// Samples of class `label` that the network takes for `answer`.
  std::int64_t count(int label, int answer) const;

  /// Samples of a class.
  std::int64_t samples(int label) const;

  /// Of the samples that the network takes for this class, the fraction that belong to it; empty
  /// if there are none.
  std::optional<double> precision(int answer) const;

  /// Of the samples of this class, the fraction that the network finds; empty if there are none.
  std::optional<double> recall(int label) const;

 private:
  int classes_;
  std::vector<std::int64_t> counts_;  ///< [classes, classes]
};

/// Prints the matrix, as far as it fits into `columns`, then precision and recall of each class.
void print_confusion(const Confusion& confusion, const std::vector<std::string>& names,
                     std::size_t columns);

/// The same for the report.
ConfusionReport report_of(const Confusion& confusion);

/// The matrix as CSV: a row for each label, a column for each answer.
std::string csv_of(const Confusion& confusion, const std::vector<std::string>& names);

}  // namespace stagewise

/// @file
/// The answers of a network as tables, for people and for scripts: which classes `evaluate` has
/// taken for which, and what `predict` says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/report.hpp"

namespace stagewise {

/// The most classes that can be counted.
inline constexpr int max_confusion_classes = 1000;

/// How many samples of each class have received each answer.
/// @param classes at most max_confusion_classes.
/// @param labels, answers one of each a sample; all less than `classes`.
ConfusionReport confusion_of(int classes, std::span<const std::int32_t> labels, std::span<const std::int32_t> answers);

/// Prints the matrix, as far as it fits into `columns`, then precision and recall of each class.
void print_confusion(const ConfusionReport& confusion, const std::vector<std::string>& names, std::size_t columns);

/// The matrix as CSV: a row for each label, a column for each answer.
std::string csv_of(const ConfusionReport& confusion, const std::vector<std::string>& names);

/// What a network says about some samples.
struct Predictions {
  std::vector<PredictionReport> samples;
  std::vector<std::string> names;  ///< of the classes
  std::string score;               ///< what the scores are: "probability"
};

/// Prints a table: the first samples, each with the two classes of the highest scores.
void print_table(const Predictions& predictions);

/// Prints every class with the first sample's score, as a bar, the highest first; of many only the
/// first.
void print_scores(const Predictions& predictions);

/// All of them as CSV: the sample, its label if known, the answer, the score of each class.
std::string csv_of(const Predictions& predictions);

}  // namespace stagewise

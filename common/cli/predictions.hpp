/// @file
/// The answers of `predict`, for people and for scripts.
#pragma once

#include <string>
#include <vector>

#include "io/report.hpp"

namespace stagewise {

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

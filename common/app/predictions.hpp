/// @file
/// The answers of `predict`, for people and for scripts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/answers.hpp"
#include "io/report.hpp"

namespace stagewise {

/// What a network says about some samples.
struct Predictions {
  Answers answers;
  std::vector<std::int32_t> labels;  ///< empty: they are not known
  Index first = 0;                   ///< number of the first of them in the data set
  std::vector<std::string> names;    ///< of the classes
  std::string score;                 ///< what the scores are: "probability"
};

/// Prints a table: the first samples, each with the two classes of the highest scores.
void print_table(const Predictions& predictions);

/// Prints every class with its score, as a bar, the highest first; of many only the first.
/// @param sample among the predictions.
void print_scores(const Predictions& predictions, Index sample);

/// All of them for the report.
std::vector<PredictionReport> report_of(const Predictions& predictions);

/// All of them as CSV: the sample, its label if known, the answer, the score of each class.
std::string csv_of(const Predictions& predictions);

}  // namespace stagewise

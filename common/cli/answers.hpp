/// @file
/// What a network answers, sample by sample.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "data/dataset.hpp"
#include "io/checkpoint.hpp"
#include "io/report.hpp"
#include "training/network.hpp"
#include "training/ranks.hpp"

namespace stagewise {

/// Predicts every sample, in batches as large as the network was loaded for.
/// @return what the network says about each class is its probability; with a squared error, except
///         for a neuron, the output itself. There are no labels.
/// @throws Error naming the sample if an output is not finite.
template <typename T>
std::vector<PredictionReport> answers_to(const Dataset& dataset, Network<T>& network, const ModelOptions& model);

/// The answers to a data set that several ranks share.
struct SharedAnswers {
  std::vector<std::int32_t> classes;
  std::vector<double> confidences;

  /// The most confident mistakes, at most so many; of the equally confident, the first.
  std::vector<MistakeReport> mistakes(std::span<const std::int32_t> labels, Index most) const;
};

/// The answers of all ranks, for each to its share of the data set.
SharedAnswers gather(const std::vector<PredictionReport>& own, Ranks& ranks);

/// A name for each class of the checkpoint's network, as the data set calls it that it was trained
/// on; its number where that has no names.
std::vector<std::string> class_names(const Checkpoint& checkpoint, const RunOptions& options);

/// Whether they say more than the numbers of the classes.
bool are_more_than_numbers(const std::vector<std::string>& names);

/// What scores are: "probability", or "output".
std::string name_of_score(const ModelOptions& model);

}  // namespace stagewise

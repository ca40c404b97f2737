/// @file
/// What a network answers, sample by sample.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "data/dataset.hpp"
#include "io/checkpoint.hpp"
#include "training/network.hpp"
#include "training/ranks.hpp"

namespace stagewise {

/// The answers to some samples.
struct Answers {
  std::vector<std::int32_t> classes;  ///< the predictions
  /// What the network says about each class, [samples, classes]: its probability; with a squared
  /// error, except for a neuron, the output itself.
  std::vector<double> scores;
  Index width = 0;  ///< number of classes

  /// Those of a sample.
  std::span<const double> scores_of(Index sample) const;

  /// What the network says about its own answer.
  double confidence(Index sample) const;
};

/// Predicts every sample, in batches as large as the network was loaded for.
/// @throws Error naming the sample if an output is not finite.
template <typename T>
Answers answers_to(const Dataset& dataset, Network<T>& network, const ModelOptions& model);

/// A sample of another class than the network says.
struct Mistake {
  Index sample = 0;
  std::int32_t label = 0;
  std::int32_t answer = 0;
  double confidence = 0;
};

/// The answers to a data set that several ranks share.
struct SharedAnswers {
  std::vector<std::int32_t> classes;
  std::vector<double> confidences;

  /// The most confident mistakes, at most so many; of the equally confident, the first.
  std::vector<Mistake> mistakes(std::span<const std::int32_t> labels, Index most) const;
};

/// The answers of all ranks, for each to its share of the data set.
SharedAnswers gather(const Answers& own, Ranks& ranks);

/// A name for each class of the checkpoint's network, as the data set calls it that it was trained
/// on; its number where that has no names.
std::vector<std::string> class_names(const Checkpoint& checkpoint, const RunOptions& options);

/// Whether they say more than the numbers of the classes.
bool are_more_than_numbers(const std::vector<std::string>& names);

/// What scores are: "probability", or "output".
std::string name_of_score(const ModelOptions& model);

}  // namespace stagewise

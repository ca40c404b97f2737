/// @file
/// Loss and accuracy of a network on a data set.
#pragma once

#include <functional>

#include "data/dataset.hpp"
#include "training/network.hpp"
#include "training/ranks.hpp"
#include "training/step.hpp"

namespace stagewise {

/// A network's results on a data set.
struct Evaluation {
  double loss = 0;      ///< mean over the samples, without l2
  double accuracy = 0;  ///< fraction of samples that are predicted correctly
  std::int64_t correct = 0;
  std::int64_t samples = 0;
};

/// Runs the network forward over all samples, in batches as large as it was loaded for.
/// @param dataset this rank's share of it.
/// @param ranks the ranks that evaluate together; null: there is only one.
/// @return the same on all ranks.
/// @throws Error if the data set is empty or the loss is not finite.
template <typename T>
Evaluation evaluate(Network<T>& network, const Dataset& dataset, Ranks* ranks = nullptr);

/// The totals of some samples, at most as many as the network was loaded for.
/// @param step for Totals::first_bad_step.
template <typename T>
Totals evaluate_batch(Network<T>& network, const Samples& samples, std::int64_t step);

}  // namespace stagewise

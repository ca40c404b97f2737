/// @file
/// Loss and accuracy of a network on a data set; and why a number has become NaN or infinite, as
/// far as is known.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "io/checkpoint.hpp"
#include "network/optimizer.hpp"
#include "tensor/error.hpp"
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

/// The totals of some samples, in batches as large as the network was loaded for.
/// @param step for Totals::first_bad_step.
template <typename T>
Totals run_evaluation(Network<T>& network, const Samples& samples, std::int64_t step);

/// Training or evaluation produced a number that is not finite.
class NotFinite : public Error {
 public:
  /// @param may_be_a_kernel whether an operation that computes wrong numbers may be the cause.
  NotFinite(const std::string& sentence, bool may_be_a_kernel) : Error(sentence), may_be_a_kernel_(may_be_a_kernel) {}

  /// False where the options alone explain it.
  bool may_be_a_kernel() const { return may_be_a_kernel_; }

 private:
  bool may_be_a_kernel_;
};

/// The largest input and the largest parameter; infinite if one is NaN.
struct Magnitudes {
  double input;
  double parameter;
};

/// The largest magnitude of a data set's features.
double largest_input(const Dataset& dataset);

/// The largest magnitude of a network's parameters.
double largest_parameter(const std::vector<ParameterValues>& parameters);

/// The error to throw when training produced such a number.
/// @param what "the loss became NaN in epoch 1, step 2".
/// @param began the magnitudes that training began with.
/// @param is_first whether this was before the first update.
NotFinite explained(const std::string& what, const Magnitudes& began, bool is_first, const Sgd& sgd);

}  // namespace stagewise

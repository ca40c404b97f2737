/// @file
/// Why a number has become NaN or infinite, as far as is known.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "io/checkpoint.hpp"
#include "network/optimizer.hpp"
#include "tensor/error.hpp"

namespace stagewise {

/// Training or evaluation produced a number that is not finite.
class NotFinite : public Error {
 public:
  /// @param may_be_a_kernel whether an operation that computes wrong numbers may be the cause.
  NotFinite(const std::string& sentence, bool may_be_a_kernel)
      : Error(sentence), may_be_a_kernel_(may_be_a_kernel) {}

  /// Whether options and data allow for that cause.
  bool may_be_a_kernel() const { return may_be_a_kernel_; }

 private:
  bool may_be_a_kernel_;
};

/// The largest magnitudes in a computation; infinite if one is NaN.
struct Magnitudes {
  double input;
  double parameter;
};

/// The largest magnitude of a data set's features.
double largest_input(const Dataset& dataset);

/// The largest magnitude of a network's parameters.
double largest_parameter(const std::vector<ParameterValues>& parameters);

/// The error to throw if it happened in training.
/// @param what "the loss became NaN in epoch 1, step 2".
/// @param began with what training began.
/// @param is_first whether no update had been made.
NotFinite explained(const std::string& what, const Magnitudes& began, bool is_first,
                    const Sgd& sgd);

/// The same for an evaluation.
NotFinite explained_evaluation(const std::string& what, const Magnitudes& given);

}  // namespace stagewise

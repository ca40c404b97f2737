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
NotFinite explained(const std::string& what, const Magnitudes& began, bool is_first,
                    const Sgd& sgd);

/// The same for an evaluation.
NotFinite explained_evaluation(const std::string& what, const Magnitudes& given);

}  // namespace stagewise

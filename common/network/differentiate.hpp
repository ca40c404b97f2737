/// @file
/// Backpropagation: the lines that compute gradients, from the lines that compute a loss.
#pragma once

#include <vector>

#include "network/program.hpp"

namespace stagewise {

/// A program that also computes gradients.
struct Differentiated {
  Program program;
  std::vector<ValueId> gradients;  ///< of each value; none where it depends on no parameter

  /// The gradient of a value.
  ValueId gradient_of(ValueId id) const { return gradients[static_cast<std::size_t>(id.index)]; }
};

/// Walks the lines from the last to the first and appends those that compute the gradient of the
/// mean of a loss with respect to every parameter, with one rule per operation. The gradient of a
/// value that several lines read is the sum of their contributions.
/// @param row_losses written by one of the losses.
/// @throws std::logic_error where an operation between a parameter and the loss has no derivative.
Differentiated differentiate(const Program& forward, ValueId row_losses);

}  // namespace stagewise

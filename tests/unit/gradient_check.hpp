/// @file
/// Does backpropagation compute the derivative? Asks the loss itself.
#pragma once

#include <string>
#include <vector>

#include "network/differentiate.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// How far the two gradients of one parameter lie apart.
struct GradientDifference {
  std::string parameter;
  double relative = 0;  ///< max |difference| / max |numerical|; infinite for 0 against not 0
  double largest_gradient = 0;  ///< max |numerical|: 0 means that nothing was tested
  Index worst = 0;              ///< the element with the largest difference
  double backpropagated = 0;    ///< the gradients there
  double numerical = 0;
};

/// Compares, for every element of every parameter, the gradient that backpropagation computes with
/// the central difference (loss(w + h) - loss(w - h)) / 2h of the mean loss over the batch.
///
/// With double and h = 1e-5 the quotient is good to about 1e-9 of the loss, unless a relu switches
/// between the two points.
/// @param executor has loaded `differentiated`, in memory the host can read; parameters and samples
///        set.
/// @param forward whose row losses' mean over the batch is differentiated.
/// @param differentiated what differentiate() has made of it.
std::vector<GradientDifference> check_gradients(Executor<double>& executor, const Program& forward,
                                                const Differentiated& differentiated,
                                                ValueId row_losses, Index rows, double h = 1e-5);

}  // namespace stagewise

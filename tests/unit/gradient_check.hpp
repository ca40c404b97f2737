/// @file
/// Does backpropagation compute the derivative? Asks the loss itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "network/differentiate.hpp"
#include "tensor/random.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// How far the two gradients of one parameter lie apart.
struct GradientDifference {
  std::string parameter;
  double relative = 0;          ///< max |difference| / max |numerical|; infinite for 0 against not 0
  double largest_gradient = 0;  ///< max |numerical|: 0 means that nothing was tested
};

/// Compares, for every parameter, the gradient that backpropagation computes with the central
/// difference (loss(w + h) - loss(w - h)) / 2h of the mean loss over the batch: element by element,
/// or, where there are more than `most`, for so many of them.
///
/// With double and h = 1e-5 the quotient is good to about 1e-9 of the loss, unless a relu switches
/// between the two points.
/// @param executor has loaded `differentiated`, in memory the host can read; parameters and samples
///        set.
/// @param forward whose row losses' mean over the batch is differentiated.
/// @param differentiated what differentiate() has made of it.
inline std::vector<GradientDifference> check_gradients(Executor<double>& executor, const Program& forward,
                                                       const Differentiated& differentiated, ValueId row_losses,
                                                       Index rows, Index most = 200) {
  constexpr double h = 1e-5;
  const auto mean_loss = [&] {
    executor.execute(forward, {.rows = rows});
    const double* const losses = executor.data(row_losses);
    return std::accumulate(losses, losses + rows, 0.0) / static_cast<double>(rows);
  };
  executor.execute(differentiated.program, {.rows = rows});
  std::vector<GradientDifference> result;
  Random random(31);
  for (int k = 0; k < static_cast<int>(forward.values.size()); ++k) {
    const Value& parameter = forward[{k}];
    if (!is_parameter(parameter.role)) continue;
    const Index n = parameter.shape.elements();
    const ValueId gradient = differentiated.gradient_of({k});
    double largest_difference = 0;
    double largest_gradient = 0;
    for (Index i = 0; i < std::min(n, most); ++i) {
      const auto any = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
      const Index at = n <= most ? i : any;
      double& w = executor.data({k})[at];
      const double original = w;
      w = original + h;
      const double above = mean_loss();
      w = original - h;
      const double below = mean_loss();
      w = original;
      const double numerical = (above - below) / (2 * h);
      // 0 where nothing depends on the parameter.
      const double apart = std::abs(numerical - (gradient ? executor.data(gradient)[at] : 0));
      largest_gradient = std::max(largest_gradient, std::abs(numerical));
      if (!(apart <= largest_difference)) largest_difference = apart;  // also where it is NaN
      if (std::isnan(apart)) break;
    }
    result.push_back({.parameter = parameter.name,
                      .relative = largest_difference == 0 ? 0 : largest_difference / largest_gradient,
                      .largest_gradient = largest_gradient});
  }
  return result;
}

}  // namespace stagewise

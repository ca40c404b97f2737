#include "unit/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stagewise {
namespace {

double mean_loss(Executor<double>& executor, const Program& forward, ValueId row_losses,
                 Index rows) {
  executor.execute(forward, {.rows = rows});
  const double* const losses = executor.data(row_losses);
  return std::accumulate(losses, losses + rows, 0.0) / static_cast<double>(rows);
}

}  // namespace

std::vector<GradientDifference> check_gradients(Executor<double>& executor, const Program& forward,
                                                const Differentiated& differentiated,
                                                ValueId row_losses, Index rows, double h) {
  executor.execute(differentiated.program, {.rows = rows});

  std::vector<GradientDifference> result;
  for (int k = 0; k < static_cast<int>(forward.values.size()); ++k) {
    const Value& parameter = forward[{k}];
    if (!is_parameter(parameter.role)) continue;
    const Index n = parameter.shape.elements();
    const ValueId gradient = differentiated.gradient_of({k});
    std::vector<double> backpropagated(
        static_cast<std::size_t>(n));  // 0 where nothing depends on it
    if (gradient) std::copy_n(executor.data(gradient), n, backpropagated.begin());
    GradientDifference difference{.parameter = parameter.name};
    double largest_difference = -1;
    for (Index i = 0; i < n; ++i) {
      double& w = executor.data({k})[i];
      const double original = w;
      w = original + h;
      const double above = mean_loss(executor, forward, row_losses, rows);
      w = original - h;
      const double below = mean_loss(executor, forward, row_losses, rows);
      w = original;
      const double numerical = (above - below) / (2 * h);
      const double apart = std::abs(numerical - backpropagated[static_cast<std::size_t>(i)]);
      difference.largest_gradient = std::max(difference.largest_gradient, std::abs(numerical));
      if (!(apart <= largest_difference)) {  // also where `apart` is NaN
        largest_difference = apart;
        difference.worst = i;
        difference.backpropagated = backpropagated[static_cast<std::size_t>(i)];
        difference.numerical = numerical;
        if (std::isnan(apart)) break;
      }
    }
    difference.relative = largest_difference == 0 ? 0
                          : difference.largest_gradient == 0
                              ? std::numeric_limits<double>::infinity()
                              : largest_difference / difference.largest_gradient;
    result.push_back(difference);
  }
  executor.execute(forward, {.rows = rows});  // leave the values of the unchanged parameters behind
  return result;
}

}  // namespace stagewise

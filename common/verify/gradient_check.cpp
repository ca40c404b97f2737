#include "verify/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stagewise {
namespace {

double mean_loss(Graph<double>& graph, Node<double>& loss) {
  graph.forward();
  graph.backend().synchronize();
  const double* const losses = loss.value();
  return std::accumulate(losses, losses + graph.rows(), 0.0) / static_cast<double>(graph.rows());
}

}  // namespace

std::vector<GradientDifference> check_gradients(Graph<double>& graph, Node<double>& loss,
                                                double h) {
  graph.forward();
  graph.backward();
  graph.backend().synchronize();

  std::vector<GradientDifference> result;
  for (Parameter<double>* const parameter : graph.parameters()) {
    const Index n = parameter->elements();
    const std::vector<double> backpropagated(parameter->gradient(), parameter->gradient() + n);
    GradientDifference difference{.parameter = parameter->name()};
    double largest_difference = -1;
    for (Index i = 0; i < n; ++i) {
      double& w = parameter->value()[i];
      const double original = w;
      w = original + h;
      const double above = mean_loss(graph, loss);
      w = original - h;
      const double below = mean_loss(graph, loss);
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
  graph.forward();  // leave the values of the unchanged parameters behind
  return result;
}

}  // namespace stagewise

/// @file
/// Stochastic gradient descent.
#pragma once

#include "graph/graph.hpp"

namespace stagewise {

/// One update of every parameter from its gradient.
template <typename T>
void update(Graph<T>& graph, const Sgd& sgd) {
  for (Parameter<T>* const parameter : graph.parameters()) {
    const double l2 = parameter->kind() == ParameterKind::bias ? 0 : sgd.l2;
    graph.backend().sgd_update(parameter->elements(), static_cast<T>(sgd.learning_rate),
                               static_cast<T>(l2), parameter->gradient(), parameter->value());
  }
}

}  // namespace stagewise

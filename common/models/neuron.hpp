/// @file
/// The smallest network there is, after report 003.
#pragma once

#include "models/model.hpp"

namespace stagewise {

/// Adds a single sigmoid unit behind `network.input`, squared error against the label as a number,
/// and class 1 where the unit is at least 0.5.
/// @throws UsageError unless the data have two classes.
template <typename T>
void build_neuron(Network<T>& network, const ModelOptions& options);

}  // namespace stagewise

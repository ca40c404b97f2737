/// @file
/// The multilayer perceptron: fully connected layers, one after another.
#pragma once

#include <string>
#include <vector>

#include "models/model.hpp"

namespace stagewise {

/// Adds the fully connected layers of `options.hidden` and the output behind `network.input`.
template <typename T>
void build_mlp(Network<T>& network, const ModelOptions& options);

/// Adds the layers fc1, ..., fcL behind `input`, fcL being the output, then loss and prediction.
/// Hidden layers have `options.activation`. The output layer has none (its values are logits),
/// except with squared error and sigmoid hidden layers: then it is sigmoid, too.
/// @param hidden widths of the hidden layers.
template <typename T>
void add_fully_connected(Network<T>& network, Node<T>& input, const std::vector<Index>& hidden,
                         const ModelOptions& options);

/// The bias `layer`/bias of `length` values; null if the network is to have no biases.
template <typename T>
Parameter<T>* add_bias_parameter(Graph<T>& graph, const std::string& layer, Index length,
                                 const ModelOptions& options);

}  // namespace stagewise

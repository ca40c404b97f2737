/// @file
/// How a model's parameters start.
#pragma once

#include <cstdint>
#include <vector>

#include "network/model.hpp"
#include "tensor/parameter_values.hpp"

namespace stagewise {

/// Every parameter's starting values, drawn in double from a stream of its own for each parameter:
/// the same numbers on every stage, to be rounded where the precision is lower.
///
/// Biases start at 0. Weights and filters start uniform in +-sqrt(6 / (in + out)) (Glorot and
/// Bengio, 2010), or +-sqrt(6 / in) before a relu (He et al., 2015), where in and out count the
/// connections of a unit.
///
/// In a relu mlp with cross-entropy, the last two layers start otherwise. How fast the hidden layer
/// learns is proportional to the squares of the weights behind it, so those start large (length 8
/// for each output, or 0.5 a weight where that is less). Large random outputs would be large random
/// mistakes, though, that first have to be unlearned: therefore hidden units start as pairs whose
/// contributions cancel, and the network as the zero function (Chizat, Oyallon and Bach, 2019).
/// Orthogonal weights (Saxe, McClelland and Ganguli, 2014) keep units and outputs from starting
/// alike.
/// @param worker which worker's parameters (weight averaging starts each from its own); 0 else.
/// @return the model's parameters, in their order.
std::vector<ParameterValues> initial_parameters(const Model& model, const ModelOptions& options,
                                                std::uint64_t seed, std::uint64_t worker = 0);

}  // namespace stagewise

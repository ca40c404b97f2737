/// @file
/// How a model's parameters start.
#pragma once

#include <cstdint>
#include <vector>

#include "network/model.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

/// Whether the last two layers start as pairs of units; see initial_parameters().
bool starts_paired(const ModelOptions& options);

/// The starting values of every parameter, drawn in double from a separate stream for each
/// parameter: the same numbers in every stage, rounded where the precision is lower.
///
/// Biases start at 0. Weights and filters start uniform in +-sqrt(6 / (in + out)) (Glorot and
/// Bengio, 2010), or +-sqrt(6 / in) before a relu (He et al., 2015), where in and out count the
/// connections of a unit.
///
/// In a relu mlp with cross-entropy, the last two layers start differently. How fast the hidden
/// layer learns is proportional to the squares of the weights after it, so those start large
/// (length 4 for each output, or 0.5 per weight where that is less). But large random outputs would
/// be large random errors, which training must first undo: therefore hidden units start as pairs
/// whose contributions cancel, and the network starts as the zero function (Chizat, Oyallon and
/// Bach, 2019). Orthogonal weights (Saxe, McClelland and Ganguli, 2014) keep units and outputs from
/// starting alike.
/// @param worker which worker's parameters (with weight averaging, each starts from its own);
///        otherwise 0.
/// @return the model's parameters, in their order.
std::vector<ParameterValues> initial_parameters(const Model& model, const ModelOptions& options, std::uint64_t seed,
                                                std::uint64_t worker = 0);

}  // namespace stagewise

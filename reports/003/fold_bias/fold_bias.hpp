/// @file
/// A layer whose bias is one more row of its weights (report 003): the program `fold_bias`.
#pragma once

#include "network/program.hpp"

namespace stagewise {

/// Replaces each product that is followed by a bias with one operation, and its gradients with
/// another.
Program fold_biases(const Program& program);

}  // namespace stagewise

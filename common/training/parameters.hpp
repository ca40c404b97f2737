/// @file
/// Parameters between the device, the host and checkpoints.
#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "io/checkpoint.hpp"

namespace stagewise {

/// Copies all parameters to the host.
template <typename T>
std::vector<ParameterValues> copy_parameters_out(Graph<T>& graph);

/// Sets all parameters, by name.
/// @param source whose values these are, for the error's sentence: "the checkpoint model.h5".
/// @throws Error unless names and shapes are exactly the graph's.
template <typename T>
void copy_parameters_in(Graph<T>& graph, const std::vector<ParameterValues>& values,
                        const std::string& source);

/// The sum of the squares of all weights and filters, biases not counted: what l2 multiplies.
double squared_norm_of_weights(const std::vector<ParameterValues>& values);

/// @throws Error naming the first parameter, those of workers included, that is NaN or infinite.
/// @param source "the checkpoint model.h5".
void expect_finite(const Checkpoint& checkpoint, const std::string& source);

/// The first parameter with a value that is NaN or infinite; null if there is none.
const ParameterValues* find_non_finite(const std::vector<ParameterValues>& values);

}  // namespace stagewise

/// @file
/// Layers: a few operations each, appended to a program.
#pragma once

#include <string>

#include "network/program.hpp"

namespace stagewise {

/// The names of a layer's values say what they are: the layer "fc1" computes "fc1/product",
/// "fc1/sum" and "fc1/output"; the last one is always its output. Elementwise operations work in
/// place.

/// A value like another one, in that one's memory.
ValueId add_in_place(Program& program, ValueId of, const std::string& name);

/// activation(input weight + bias).
/// @param input a sample's values count as one row, whatever their shape.
/// @param weight [in, out].
/// @param bias [out]; none for a layer without a bias.
/// @throws Error if the shapes do not fit together, naming the layer.
ValueId append_linear(Program& program, const std::string& layer, ValueId input, ValueId weight, ValueId bias,
                      Activation activation);

/// relu(convolution(input, filter) + bias), and the mean of every window.
/// @param input samples of shape [height, width, channels].
/// @throws UsageError if the filter is larger than the image, or the window does not divide the
///         convolution's output.
ValueId append_convolution_relu_pool(Program& program, const std::string& layer, ValueId input, ValueId filter,
                                     ValueId bias, Index window);

/// The activation, in place; `input` itself for none.
ValueId append_activation(Program& program, const std::string& name, ValueId input, Activation activation);

}  // namespace stagewise

#include "network/layers.hpp"

#include "tensor/error.hpp"

namespace stagewise {
namespace {

ValueId add_batched(Program& program, const std::string& name, const Shape& shape) {
  return program.add({.name = name, .shape = shape, .is_batched = true});
}

void expect_bias(const std::string& layer, const Shape& found, const Shape& expected) {
  if (found == expected) return;
  throw Error("'" + layer + "' takes a bias of shape " + expected.to_string() + ", but it has shape " +
              found.to_string());
}

void expect_weight(const std::string& layer, const Shape& input, const Shape& weight) {
  if (weight.rank() != 2) {
    throw Error("'" + layer + "' takes a weight of two dimensions, but it has shape " + weight.to_string());
  }
  if (input.elements() == weight[0]) return;
  throw Error("'" + layer + "' takes samples of " + std::to_string(weight[0]) + " values, but its input has shape " +
              input.to_string());
}

/// The shape of a convolution's output.
Shape convolved_shape(const std::string& layer, const Shape& image, const Shape& filter) {
  if (image.rank() != 3 || filter.rank() != 4 || image[2] != filter[2]) {
    throw UsageError("'" + layer + "' convolves images with filters of as many channels, but got " + image.to_string() +
                     " and " + filter.to_string());
  }
  if (image[0] < filter[0] || image[1] < filter[1]) {
    throw UsageError("the images are too small for this network: '" + layer + "' has filters of " +
                     std::to_string(filter[0]) + "x" + std::to_string(filter[1]) + " pixels, but gets images of " +
                     std::to_string(image[0]) + "x" + std::to_string(image[1]));
  }
  return {image[0] - filter[0] + 1, image[1] - filter[1] + 1, filter[3]};
}

Shape pooled_shape(const std::string& layer, const Shape& image, Index window) {
  if (window < 1 || image[0] % window != 0 || image[1] % window != 0) {
    throw UsageError("the images do not fit this network: '" + layer + "' pools windows of " + std::to_string(window) +
                     "x" + std::to_string(window) + " pixels, which do not divide " + std::to_string(image[0]) + "x" +
                     std::to_string(image[1]));
  }
  return {image[0] / window, image[1] / window, image[2]};
}

}  // namespace

ValueId add_in_place(Program& program, ValueId of, const std::string& name) {
  Value value = program[of];
  value.name = name;
  value.memory_of = of;
  return program.add(std::move(value));
}

ValueId append_activation(Program& program, const std::string& name, ValueId input, Activation activation) {
  if (activation == Activation::none) return input;
  const ValueId output = add_in_place(program, input, name);
  with_activation(activation, [&]<Activation chosen>() { program.append(Activate<chosen>{.x = input, .y = output}); });
  return output;
}

//! [linear]
ValueId append_linear(Program& program, const std::string& layer, ValueId input, ValueId weight, ValueId bias,
                      Activation activation) {
  expect_weight(layer, program[input].shape, program[weight].shape);
  const Shape shape = {program[weight].shape[1]};
  if (bias) expect_bias(layer, program[bias].shape, shape);
  const bool is_activated = activation != Activation::none;

  const ValueId product = add_batched(program, layer + (bias || is_activated ? "/product" : "/output"), shape);
  program.append(Gemm{.a = input, .b = weight, .c = product});
  ValueId sum = product;
  if (bias) {
    sum = add_in_place(program, product, layer + (is_activated ? "/sum" : "/output"));
    program.append(AddBias{.x = product, .bias = bias, .y = sum});
  }
  return append_activation(program, layer + "/output", sum, activation);
}
//! [linear]

//! [convolution_relu_pool]
ValueId append_convolution_relu_pool(Program& program, const std::string& layer, ValueId input, ValueId filter,
                                     ValueId bias, Index window) {
  const Shape shape = convolved_shape(layer, program[input].shape, program[filter].shape);
  if (bias) expect_bias(layer, program[bias].shape, {shape[2]});
  const Shape pooled = pooled_shape(layer, shape, window);

  const ValueId convolved = add_batched(program, layer + "/convolved", shape);
  program.append(Convolution{.input = input, .filter = filter, .output = convolved});
  ValueId sum = convolved;
  if (bias) {
    sum = add_in_place(program, convolved, layer + "/sum");
    program.append(AddBias{.x = convolved, .bias = bias, .y = sum});
  }
  const ValueId activated = append_activation(program, layer + "/activated", sum, Activation::relu);
  const ValueId output = add_batched(program, layer + "/output", pooled);
  program.append(AveragePool{.input = activated, .output = output, .window = window});
  return output;
}
//! [convolution_relu_pool]

}  // namespace stagewise

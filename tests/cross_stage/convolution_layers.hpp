/// @file
/// Convolutional layers of many shapes.
#pragma once

#include <string>
#include <vector>

#include "cross_stage/shapes.hpp"
#include "network/problems.hpp"
#include "support.hpp"
#include "tensor/random.hpp"

namespace stagewise::cross_stage {

/// A layer without its data.
struct Layer {
  ConvolutionProblem convolution;
  Index window = 2;
  bool has_bias = true;

  Index inputs() const { return convolution.batch * convolution.height * convolution.width * convolution.in; }
  Index weights() const {
    return convolution.filter_height * convolution.filter_width * convolution.in * convolution.out;
  }
  Index activated() const { return convolution.output_pixels() * convolution.out; }
  Index outputs() const { return activated() / (window * window); }

  std::string name() const {
    return name_of(convolution) + ", windows of " + std::to_string(window) + (has_bias ? "" : ", no bias");
  }

  /// Of an image.
  Shape convolved() const { return {convolution.output_height(), convolution.output_width(), convolution.out}; }
  Shape pooled() const {
    return {convolution.output_height() / window, convolution.output_width() / window, convolution.out};
  }

  template <typename T>
  ConvolutionReluPoolProblem<T> problem() const {
    ConvolutionReluPoolProblem<T> problem;
    problem.convolution = convolution;
    problem.window = window;
    return problem;
  }
};

inline Index one_of(Random& random, const std::vector<Index>& values) { return values[random.below(values.size())]; }

inline Index up_to(Random& random, Index most) {
  return 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(most)));
}

inline Layer random_layer(Random& random) {
  Layer layer;
  layer.has_bias = random.below(3) != 0;
  ConvolutionProblem& p = layer.convolution;
  p.batch = one_of(random, {1, 1, 2, 3, 5});
  p.filter_height = up_to(random, 5);
  p.filter_width = up_to(random, 5);
  p.height = layer.window * up_to(random, 7) + p.filter_height - 1;
  p.width = layer.window * up_to(random, 7) + p.filter_width - 1;
  p.in = one_of(random, {1, 2, 3, 4, 5, 8, 32, 33});
  p.out = one_of(random, {1, 2, 3, 4, 5, 8, 16, 17, 20, 32, 33, 36, 64, 65});
  return layer;
}

/// Those of the cnn, and one for each kind of tile, whole and cut.
inline const std::vector<Layer> layers = {
    // batch, height, width, in, filter height, filter width, out
    {{3, 28, 28, 1, 5, 5, 32}, 2, true},
    {{3, 12, 12, 32, 5, 5, 64}, 2, true},
    {{1, 28, 28, 1, 5, 5, 32}, 2, false},
    {{1, 12, 12, 32, 5, 5, 64}, 2, false},
    {{4, 32, 32, 3, 5, 5, 32}, 2, true},
    {{7, 15, 19, 3, 2, 4, 31}, 2, true},
    {{7, 15, 19, 4, 2, 4, 12}, 2, true},
    {{5, 9, 11, 5, 4, 2, 66}, 2, true},
    {{1, 2, 2, 1, 1, 1, 1}, 2, true},
    {{2, 3, 2, 700, 2, 1, 5}, 2, true},
    // So long that many blocks share a tile: of the filter's gradient, and forward.
    {{9, 28, 28, 1, 5, 5, 32}, 2, true},
    {{2, 20, 20, 4, 1, 1, 8}, 2, true},
    {{1, 4, 4, 700, 3, 3, 5}, 2, true},
    {{1, 4, 4, 704, 3, 3, 8}, 2, true},
};

template <typename T>
std::vector<T> inputs_of(const Layer& layer) {
  return random_values<T>(layer.inputs(), 1);
}
template <typename T>
std::vector<T> filter_of(const Layer& layer) {
  return random_values<T>(layer.weights(), 2);
}

}  // namespace stagewise::cross_stage

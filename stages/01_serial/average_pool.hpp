/// @file
/// Average pooling and its gradient. See PoolingProblem for the shapes.
#pragma once

#include <algorithm>

#include "network/problems.hpp"

namespace stagewise::serial {

/// Calls `visit(pixel, window)` for every pixel of the input, with the number of its window.
template <typename Visit>
void for_each_input_pixel(const PoolingProblem& p, const Visit& visit) {
  const Index rows = p.height / p.window;
  const Index cols = p.width / p.window;
  Index pixel = 0;
  for (Index b = 0; b < p.batch; ++b) {
    for (Index y = 0; y < p.height; ++y) {
      for (Index x = 0; x < p.width; ++x) {
        visit(pixel++, (b * rows + y / p.window) * cols + x / p.window);
      }
    }
  }
}

//! [average_pool]
/// The mean of every window of window x window pixels, windows side by side.
template <typename T>
void average_pool(const PoolingProblem& p, const T* input, T* output) {
  const T share = T{1} / static_cast<T>(p.window * p.window);
  std::fill_n(output, p.output_elements(), T{0});
  for_each_input_pixel(p, [&](Index pixel, Index window) {
    for (Index c = 0; c < p.channels; ++c) {
      output[window * p.channels + c] += share * input[pixel * p.channels + c];
    }
  });
}

/// The gradient of average_pool(): each pixel gets its window's share.
template <typename T>
void average_pool_backward(const PoolingProblem& p, const T* doutput, T* dinput) {
  const T share = T{1} / static_cast<T>(p.window * p.window);
  for_each_input_pixel(p, [&](Index pixel, Index window) {
    for (Index c = 0; c < p.channels; ++c) {
      dinput[pixel * p.channels + c] = share * doutput[window * p.channels + c];
    }
  });
}
//! [average_pool]

}  // namespace stagewise::serial

/// @file
/// 'Valid' convolution of stride 1 and its gradients. See ConvolutionProblem for the shapes.
#pragma once

#include <algorithm>
#include <array>

#include "network/problems.hpp"

namespace stagewise::serial {

/// The sum of x[i] y[i], in 16 partial sums: unlike additions into a single sum, they do not wait
/// for each other, so the compiler can vectorize them.
template <typename T>
T dot(Index n, const T* x, const T* y) {
  constexpr Index lanes = 16;
  std::array<T, lanes> partial{};
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (Index lane = 0; lane < lanes; ++lane) partial[lane] += x[i + lane] * y[i + lane];
  }
  T sum = 0;
  for (; i < n; ++i) sum += x[i] * y[i];
  for (const T& part : partial) sum += part;
  return sum;
}

/// Calls `visit(b, y, x, pixel)` for every pixel of the output, `pixel` being its number.
template <typename Visit>
void for_each_output_pixel(const ConvolutionProblem& p, const Visit& visit) {
  Index pixel = 0;
  for (Index b = 0; b < p.batch; ++b) {
    for (Index y = 0; y < p.output_height(); ++y) {
      for (Index x = 0; x < p.output_width(); ++x) visit(b, y, x, pixel++);
    }
  }
}

//! [convolution]
/// output[b, y, x, o] = sum over i, j, c of input[b, y + i, x + j, c] filter[i, j, c, o].
template <typename T>
void convolution(const ConvolutionProblem& p, const T* input, const T* filter, T* output) {
  // Channels are innermost, so a row of the window, filter_width pixels of `in` channels each, is
  // contiguous in memory; so are the weights from one input value to all output channels.
  const Index window_row = p.filter_width * p.in;
  for_each_output_pixel(p, [&](Index b, Index y, Index x, Index pixel) {
    T* const __restrict sums = output + pixel * p.out;
    std::fill_n(sums, p.out, T{0});
    for (Index i = 0; i < p.filter_height; ++i) {
      const T* const values = input + ((b * p.height + y + i) * p.width + x) * p.in;
      const T* weights = filter + i * window_row * p.out;
      for (Index k = 0; k < window_row; ++k, weights += p.out) {
        for (Index o = 0; o < p.out; ++o) sums[o] += values[k] * weights[o];
      }
    }
  });
}
//! [convolution]

//! [convolution_backward]
/// The gradients of convolution() with respect to its input and its filter.
/// @param dinput null if it is not needed.
template <typename T>
void convolution_backward(const ConvolutionProblem& p, const T* input, const T* filter,
                          const T* doutput, T* dinput, T* dfilter) {
  const Index window_row = p.filter_width * p.in;
  std::fill_n(dfilter, p.filter_height * window_row * p.out, T{0});
  if (dinput != nullptr) std::fill_n(dinput, p.batch * p.height * p.width * p.in, T{0});

  // Each product of the forward pass passes its output's gradient on to both of its factors.
  for_each_output_pixel(p, [&](Index b, Index y, Index x, Index pixel) {
    const T* const gradients = doutput + pixel * p.out;
    for (Index i = 0; i < p.filter_height; ++i) {
      const Index first = ((b * p.height + y + i) * p.width + x) * p.in;
      const Index weights = i * window_row * p.out;
      for (Index k = 0; k < window_row; ++k) {
        T* const __restrict dweights = dfilter + weights + k * p.out;
        for (Index o = 0; o < p.out; ++o) dweights[o] += input[first + k] * gradients[o];
      }
      if (dinput == nullptr) continue;
      for (Index k = 0; k < window_row; ++k) {
        dinput[first + k] += dot(p.out, filter + weights + k * p.out, gradients);
      }
    }
  });
}
//! [convolution_backward]

}  // namespace stagewise::serial

/// @file
/// The arguments of the larger kernels. Plain data: pointers are not owned.
#pragma once

#include <cstdint>

#include "tensor/shape.hpp"

namespace stagewise {

/// Whether a matrix takes part in a product as it is stored, or transposed.
enum class Transpose : std::uint8_t { no, yes };

/// C = alpha op(A) op(B) + beta C, everything row-major and densely packed.
/// op(A) is [m, k], op(B) is [k, n], C is [m, n]; a transposed A is stored as [k, m].
template <typename T>
struct GemmProblem {
  Transpose op_a = Transpose::no;
  Transpose op_b = Transpose::no;
  Index m = 0;
  Index n = 0;
  Index k = 0;
  T alpha = 1;
  const T* a = nullptr;
  const T* b = nullptr;
  T beta = 0;
  T* c = nullptr;
};

/// Which rows of a larger matrix are a batch: its row i is row order[i].
struct Selection {
  const std::uint32_t* order = nullptr;  ///< in the device's memory; null: row i is row i
};

/// What is applied to the output of a layer.
enum class Activation : std::uint8_t { none, relu, sigmoid };

/// What is minimized.
enum class LossKind : std::uint8_t { cross_entropy, squared_error };

/// output = activation(input weight + bias): input [rows, in], weight [in, out], bias [out],
/// output [rows, out].
template <typename T>
struct LinearProblem {
  Index rows = 0;
  Index in = 0;
  Index out = 0;
  const T* input = nullptr;
  Selection selection = {};  ///< of the input's rows
  const T* weight = nullptr;
  const T* bias = nullptr;  ///< null: no bias
  Activation activation = Activation::none;
  T* output = nullptr;
};

/// How parameters follow their gradients (stochastic gradient descent).
struct Sgd {
  double learning_rate = 0.1;
  double l2 = 0;  ///< applies to weights and filters, never to biases
};

/// Where a parameter's gradient goes: it is stored, or the parameter is updated at once and
/// `gradient` left alone.
template <typename T>
struct GradientTarget {
  T* gradient = nullptr;   ///< null: nobody wants this gradient
  T* parameter = nullptr;  ///< null: only store; else update this right after its last use
  T learning_rate = 0;
  T l2 = 0;
};

/// The backward pass of LinearProblem. `doutput` [rows, out] is the gradient before the
/// activation; `dinput` [rows, in] may be null, and is taken through the activation that made the
/// input.
template <typename T>
struct LinearBackwardProblem {
  LinearProblem<T> forward;  ///< as it was in the forward pass, the output included
  T* doutput = nullptr;
  T* dinput = nullptr;
  Activation input_activation = Activation::none;
  GradientTarget<T> weight;
  GradientTarget<T> bias;
};

/// A 'valid' convolution of stride 1: input [batch, height, width, in], filter
/// [filter_height, filter_width, in, out], output [batch, height - filter_height + 1,
/// width - filter_width + 1, out].
struct ConvolutionProblem {
  Index batch = 0;
  Index height = 0;
  Index width = 0;
  Index in = 0;
  Index filter_height = 0;
  Index filter_width = 0;
  Index out = 0;

  Index output_height() const { return height - filter_height + 1; }
  Index output_width() const { return width - filter_width + 1; }

  /// Pixels of all outputs, each of `out` channels.
  Index output_pixels() const { return batch * output_height() * output_width(); }
};

/// Square windows side by side: input [batch, height, width, channels], output
/// [batch, height / window, width / window, channels]; the window divides height and width.
struct PoolingProblem {
  Index batch = 0;
  Index height = 0;
  Index width = 0;
  Index channels = 0;
  Index window = 0;

  /// Number of values in the output.
  Index output_elements() const { return batch * (height / window) * (width / window) * channels; }
};

/// output = average_pool(relu(convolution(input, filter) + bias)).
template <typename T>
struct ConvolutionReluPoolProblem {
  ConvolutionProblem convolution;
  Index window = 0;  ///< of the pooling; divides the convolution's output height and width
  const T* input = nullptr;
  const T* filter = nullptr;
  const T* bias = nullptr;  ///< [out]; null: no bias
  /// What comes out of the relu: the backward pass needs it. Null where there is none.
  T* activated = nullptr;
  T* output = nullptr;

  /// The pooling behind the convolution.
  PoolingProblem pooling() const {
    return {.batch = convolution.batch,
            .height = convolution.output_height(),
            .width = convolution.output_width(),
            .channels = convolution.out,
            .window = window};
  }
};

/// The backward pass of ConvolutionReluPoolProblem. `doutput` is the gradient of the output,
/// `dactivated` room for that of what comes out of the convolution; `dinput` may be null.
template <typename T>
struct ConvolutionReluPoolBackwardProblem {
  ConvolutionReluPoolProblem<T> forward;  ///< as it was in the forward pass, its results included
  const T* doutput = nullptr;
  T* dactivated = nullptr;
  T* dinput = nullptr;
  T* dfilter = nullptr;
  T* dbias = nullptr;  ///< null: no bias
};

/// What an epoch adds up, on the device; the host reads it when the epoch ends.
struct Totals {
  double loss = 0;                   ///< sum of the samples' losses
  std::int64_t correct = 0;          ///< samples whose prediction is their label
  std::int64_t first_bad_step = -1;  ///< the first step whose loss was not finite; -1: none
};

/// Loss and number of right answers of some rows.
struct BlockPartial {
  double loss = 0;
  std::int64_t correct = 0;
};

}  // namespace stagewise

/// @file
/// The arguments of the larger kernels. Plain data: pointers are not owned.
#pragma once

#include <cstdint>

#include "network/activations.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

/// Whether a product takes a matrix as it is stored, or transposed.
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

/// More than any size that kernels count in ints.
constexpr int beyond_ints = 1 << 30;

/// Whether rows, columns and steps of a product fit into ints, including those beyond the edges of
/// tiles.
inline bool fits_ints(Index m, Index n, Index k) {
  constexpr Index most = beyond_ints - 1024;
  return m <= most && n <= most && k <= most;
}

/// The function that training minimizes.
enum class LossKind : std::uint8_t { cross_entropy, squared_error };

/// With squared_error, the value that output j of a sample should have: 1 for the labelled class
/// and 0 for the others; for a single output, the label itself.
/// @param cols the number of outputs.
template <typename T>
constexpr T target(Index cols, Index j, std::int32_t label) {
  if (cols == 1) return static_cast<T>(label);
  return j == label ? T{1} : T{0};
}

/// output = activation(input weight + bias): input [rows, in], weight [in, out], bias [out],
/// output [rows, out].
template <typename T>
struct LinearProblem {
  Index rows = 0;
  Index in = 0;
  Index out = 0;
  const T* input = nullptr;
  Index input_stride = 0;                ///< from an input row to the next; 0: `in`
  const std::uint32_t* order = nullptr;  ///< row i is the input's row order[i]; null: its row i
  const T* weight = nullptr;
  const T* bias = nullptr;  ///< null: no bias
  Activation activation = Activation::none;
  T* output = nullptr;
};

/// Where a parameter's gradient goes: it is stored, or the parameter is updated immediately and
/// `gradient` is left unchanged.
template <typename T>
struct GradientTarget {
  T* gradient = nullptr;   ///< null: this gradient is not needed
  T* parameter = nullptr;  ///< null: only store; else update this right after its last use
  T learning_rate = 0;
  T l2 = 0;
};

/// The backward pass of LinearProblem. `doutput` [rows, out] is the gradient before the activation;
/// `dinput` [rows, in] may be null; it includes the derivative of the activation that computed the
/// input.
template <typename T>
struct LinearBackwardProblem {
  LinearProblem<T> forward;  ///< as in the forward pass, including the output
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
  /// That of images [height, width, in] with filters [filter_height, filter_width, in, out].
  static ConvolutionProblem of(Index batch, const Shape& image, const Shape& filter) {
    return {batch, image[0], image[1], image[2], filter[0], filter[1], filter[3]};
  }

  Index batch = 0;
  Index height = 0;
  Index width = 0;
  Index in = 0;
  Index filter_height = 0;
  Index filter_width = 0;
  Index out = 0;

  Index output_height() const { return height - filter_height + 1; }
  Index output_width() const { return width - filter_width + 1; }

  /// The number of pixels in all outputs, each with `out` channels.
  Index output_pixels() const { return batch * output_height() * output_width(); }

  /// The number of input values that a filter sees at once.
  Index window() const { return filter_height * filter_width * in; }
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
  /// The output of the relu, for the backward pass. Null where there is none.
  T* activated = nullptr;
  T* output = nullptr;
};

/// The totals of an epoch, on the device; the host reads them when the epoch ends.
struct Totals {
  double loss = 0;                   ///< sum of the samples' losses
  std::int64_t correct = 0;          ///< samples whose prediction matches their label
  std::int64_t first_bad_step = -1;  ///< the first step whose loss was not finite; -1: none
};

/// What the updates of a step have in common if it differs from step to step. In device memory, so
/// that a recorded step finds the numbers of the step that it repeats.
struct StepRates {
  double rate = 0;        ///< the learning rate; for Adam, divided by 1 - beta1^t in step t
  double correction = 1;  ///< for Adam, the square root of 1 - beta2^t
};

/// The numbers of an AdamUpdate, those subtracted from 1 before they are rounded.
template <typename T>
struct AdamNumbers {
  T new_in_first;  ///< 1 - beta1
  T beta2;
  T new_in_second;  ///< 1 - beta2
  T epsilon;
  T l2;
};

/// Loss and number of correct predictions of some rows.
struct BlockPartial {
  double loss = 0;
  std::int64_t correct = 0;
};

}  // namespace stagewise

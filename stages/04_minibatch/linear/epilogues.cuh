/// @file
/// What happens to the elements of a layer's products while they are still in registers.
///
/// Stage 03 stored a product, and the kernels behind it read it again: to add the bias, to apply
/// the activation, to take a gradient through it, to update the weights. Each of these is a few
/// instructions for an element, and cost a trip to memory and back, and a launch. These are
/// epilogues of the GEMM's main loop (gemm/epilogue.cuh).
#pragma once

#include "03_shared_memory/gemm/epilogue.cuh"
#include "04_minibatch/activation.cuh"

namespace stagewise::minibatch {

using shared_memory::is_aligned;

//! [bias_activation]
/// activation(sum + bias).
template <typename T>
struct BiasActivation {
  static constexpr bool reads = true;

  T* out;
  int n;
  const T* bias;  ///< null: none
  Activation activation;
  bool vectors;

  explicit BiasActivation(const LinearProblem<T>& p)
      : out(p.output),
        n(static_cast<int>(p.out)),
        bias(p.bias),
        activation(p.activation),
        vectors(is_aligned(p.output, p.out)) {}

  /// Where row number `i` is stored.
  __device__ T* row(int i) const { return out + static_cast<Index>(i) * n; }

  /// See AlphaBeta.
  template <typename Work>
  __device__ void with_element(const Work& work) const {
    with_activation(activation, [&]<Activation chosen>() {
      work([&](int /*row*/, int column, T sum) {
        return activate(chosen, bias != nullptr ? sum + bias[column] : sum);
      });
    });
  }
};
//! [bias_activation]

//! [through_activation]
/// The sum, taken through the activation that made `y`, the layer's input.
template <typename T>
struct ThroughActivation {
  static constexpr bool reads = true;

  T* out;
  int n;
  const T* y;
  Activation activation;
  bool vectors;

  explicit ThroughActivation(const LinearBackwardProblem<T>& p)
      : out(p.dinput),
        n(static_cast<int>(p.forward.in)),
        y(p.forward.input),
        activation(p.input_activation),
        vectors(is_aligned(p.dinput, p.forward.in)) {}

  /// Where row number `i` is stored.
  __device__ T* row(int i) const { return out + static_cast<Index>(i) * n; }

  /// See AlphaBeta.
  template <typename Work>
  __device__ void with_element(const Work& work) const {
    with_activation(activation, [&]<Activation chosen>() {
      work([&](int i, int column, T sum) {
        if constexpr (chosen == Activation::none) return sum;
        return through_activation(chosen, y[static_cast<Index>(i) * n + column], sum);
      });
    });
  }
};
//! [through_activation]

//! [update_epilogue]
/// The gradients of the weights and, in the last row, of the bias: stored, or used at once to
/// update what they are the gradients of.
template <typename T>
struct UpdateEpilogue {
  static constexpr bool reads = true;

  GradientTarget<T> weight;
  GradientTarget<T> bias;
  int in;
  int n;
  bool vectors;

  explicit UpdateEpilogue(const LinearBackwardProblem<T>& p)
      : weight(p.weight),
        bias(p.bias),
        in(static_cast<int>(p.forward.in)),
        n(static_cast<int>(p.forward.out)),
        vectors(is_aligned(written(p.weight), p.forward.out) &&
                (p.bias.gradient == nullptr || is_aligned(written(p.bias), p.forward.out))) {}

  /// What is written: the parameter, or its gradient.
  static __host__ __device__ T* written(const GradientTarget<T>& target) {
    return target.parameter != nullptr ? target.parameter : target.gradient;
  }

  /// Where row number `i` is stored.
  __device__ T* row(int i) const {
    return i < in ? written(weight) + static_cast<Index>(i) * n : written(bias);
  }

  /// See AlphaBeta.
  template <typename Work>
  __device__ void with_element(const Work& work) const {
    work([&](int i, int column, T sum) {
      // Chosen number by number: a reference to one of the two would put both into local memory.
      const bool is_weight = i < in;
      const bool updates = (is_weight ? weight.parameter : bias.parameter) != nullptr;
      const T learning_rate = is_weight ? weight.learning_rate : bias.learning_rate;
      const T l2 = is_weight ? weight.l2 : bias.l2;
      const T value = updates ? row(i)[column] : T{0};
      return updates ? value - learning_rate * (sum + l2 * value) : sum;
    });
  }
};
//! [update_epilogue]

}  // namespace stagewise::minibatch

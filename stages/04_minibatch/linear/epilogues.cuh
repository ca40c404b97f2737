/// @file
/// What happens to the elements of a layer's products while they are still in registers.
///
/// Stage 03 stored a product, and the kernels behind it read it again: to add the bias, to apply
/// the activation, to take a gradient through it, to update the weights. Each of these is a few
/// instructions for an element, and cost a trip to memory and back, and a launch. These are
/// epilogues of stage 03's product in tiles (tiles/epilogue.cuh).
#pragma once

#include "03_shared_memory/tiles/epilogue.cuh"
#include "04_minibatch/linear/activation.cuh"

namespace stagewise::minibatch {

using shared_memory::is_aligned;
using shared_memory::StoredRows;

//! [bias_activation]
/// activation(sum + bias).
template <typename T>
struct BiasActivation : StoredRows<T> {
  static constexpr int read_ahead = 4;  // biases are few, and near

  const T* bias;  ///< null: none
  Activation activation;

  explicit BiasActivation(const LinearProblem<T>& p)
      : StoredRows<T>(p.output, p.out, p.bias), bias(p.bias), activation(p.activation) {}

  /// See tiles/epilogue.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    with_function(activation, [&]<Activation chosen>() {
      work([&](int /*row*/) { return bias; },
           [&](int /*row*/, T sum, T b) { return Function<chosen>::of(sum + b); });
    });
  }
};
//! [bias_activation]

//! [through_activation]
/// The sum, taken through the activation that made `y`, the layer's input.
template <typename T>
struct ThroughActivation : StoredRows<T> {
  static constexpr int read_ahead = 16;

  const T* y;
  Activation activation;

  explicit ThroughActivation(const LinearBackwardProblem<T>& p)
      : StoredRows<T>(p.dinput, p.forward.in, p.forward.input),
        y(p.forward.input),
        activation(p.input_activation) {}

  /// See tiles/epilogue.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    with_function(activation, [&]<Activation chosen>() {
      const auto finish = [&](int /*row*/, T sum, T of_y) {
        return Function<chosen>::back(of_y, sum);
      };
      if constexpr (chosen == Activation::none) {
        work(shared_memory::NoSource(), finish);
      } else {
        work([&](int i) { return y + static_cast<Index>(i) * this->n; }, finish);
      }
    });
  }
};
//! [through_activation]

//! [update_epilogue]
/// The gradients of the weights and, in the last row, of the bias: stored, or used at once to
/// update what they are the gradients of.
template <typename T>
struct UpdateEpilogue : StoredRows<T> {
  static constexpr int read_ahead = 16;

  GradientTarget<T> weight;
  GradientTarget<T> bias;
  T* written_bias;
  int in;

  explicit UpdateEpilogue(const LinearBackwardProblem<T>& p)
      : StoredRows<T>(written(p.weight), p.forward.out, written(p.bias)),
        weight(p.weight),
        bias(p.bias),
        written_bias(written(p.bias)),
        in(static_cast<int>(p.forward.in)) {}

  /// Where row number `i` is stored.
  __device__ T* row(int i) const { return i < in ? StoredRows<T>::row(i) : written_bias; }

  /// See tiles/epilogue.cuh.
  template <typename Work>
  __device__ void with_finish(const Work& work) const {
    const bool updates_weight = weight.parameter != nullptr;
    const bool updates_bias = bias.parameter != nullptr;
    const auto updates = [=, this](int i) { return i < in ? updates_weight : updates_bias; };
    work([&](int i) { return updates(i) ? row(i) : nullptr; },
         [&](int i, T sum, T value) {
           const T learning_rate = i < in ? weight.learning_rate : bias.learning_rate;
           const T l2 = i < in ? weight.l2 : bias.l2;
           return updates(i) ? value - learning_rate * (sum + l2 * value) : sum;
         });
  }

 private:
  /// The parameter, or its gradient.
  static T* written(const GradientTarget<T>& target) {
    return target.parameter != nullptr ? target.parameter : target.gradient;
  }
};
//! [update_epilogue]

}  // namespace stagewise::minibatch

/// @file
/// A layer whose bias is one more row of its weights (report 003): stage 03's experiment
/// `--fold-bias`.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/program.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::shared_memory {

/// How a layer's input gets its column of ones.
enum class FoldBias : std::uint8_t { in_place, out_of_place };

/// Makes each product that is followed by a bias one operation, and its gradients another.
Program fold_biases(const Program& program);

/// With a first column of ones in the input, the bias is the first row of the weights, and a layer
/// is one product, forward and backward:
///
///     [1 | input] [bias  ]  =  input weight + bias
///                 [weight]
///
/// This class holds these larger matrices, in the GPU's memory, for one layer after the other.
template <typename T>
class FoldedLayer {
 public:
  explicit FoldedLayer(FoldBias how) : how_(how) {}

  /// Makes room for layers of this size. What was there before is lost.
  /// @throws Error if the GPU has too little memory.
  void reserve(Index rows, Index in, Index out, bool with_gradients);

  /// Puts together input() and weight() from a layer's own. There must be room for it.
  void fold(cudaStream_t stream, const LinearProblem<T>& layer);

  /// Takes input_gradient() apart: without its first column it is the gradient of the layer's
  /// input.
  void unfold_input_gradient(cudaStream_t stream, const LinearProblem<T>& layer, T* dinput);

  /// Takes weight_gradient() apart.
  void unfold_weight_gradient(cudaStream_t stream, const LinearProblem<T>& layer, T* dweight,
                              T* dbias);

  const T* input() const { return input_.data(); }          ///< [rows, 1 + in]
  const T* weight() const { return weight_.data(); }        ///< [1 + in, out]
  T* input_gradient() { return input_gradient_.data(); }    ///< [rows, 1 + in]
  T* weight_gradient() { return weight_gradient_.data(); }  ///< [1 + in, out]

 private:
  FoldBias how_;
  Tensor<T> input_;
  Tensor<T> weight_;
  Tensor<T> input_gradient_;
  Tensor<T> weight_gradient_;
  Tensor<T> helper_;
};

extern template class FoldedLayer<float>;
extern template class FoldedLayer<double>;

}  // namespace stagewise::shared_memory

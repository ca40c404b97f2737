/// @file
/// A layer whose bias is one more row of its weights (report 003): the program
/// `fold_bias`.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/program.hpp"
#include "tensor/tensor.hpp"

namespace stagewise::shared_memory {

/// How a layer's input gets its column of ones.
enum class FoldBias : std::uint8_t { in_place, out_of_place };

/// Replaces each product that is followed by a bias with one operation, and its gradients with
/// another.
Program fold_biases(const Program& program);

/// With a first column of ones in the input and the bias as the first row of the weights, a layer
/// is one product, forward and backward:
///
///     [1 | input] [bias  ]  =  input weight + bias
///                 [weight]
///
/// This class owns these larger matrices, in GPU memory, and is used for one layer after another.
template <typename T>
class FoldedLayer {
 public:
  explicit FoldedLayer(FoldBias how) : how_(how) {}

  /// Allocates memory for layers of this size. Its previous contents are lost.
  /// @throws Error if the GPU has too little memory.
  void reserve(Index rows, Index in, Index out, bool with_gradients);

  /// Assembles input() and weight() from a layer's own. There must be memory for it.
  void fold(cudaStream_t stream, const LinearProblem<T>& layer);

  /// Extracts the gradient of the layer's input from input_gradient(), which has one more column.
  void unfold_input_gradient(cudaStream_t stream, const LinearProblem<T>& layer, T* dinput);

  /// Extracts the gradients of weights and bias from weight_gradient().
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

/// @file
/// A layer whose bias is one more row of its weights (report 003): the program `fold_bias`, stage
/// 03 with `--fold-bias`.
#pragma once

#include <cstdint>

#include "03_shared_memory/shared_memory_executor.hpp"

namespace stagewise {

/// Replaces each product that is followed by a bias with one operation, and its gradients with
/// another.
Program fold_biases(const Program& program);

/// How a layer's input gets its column of ones.
enum class FoldBias : std::uint8_t { in_place, out_of_place };

/// Computes the operations that fold_biases() has inserted; everything else is stage 03's.
///
/// With a first column of ones in the input and the bias as the first row of the weights, a layer
/// is one product, forward and backward:
///
///     [1 | input] [bias  ]  =  input weight + bias
///                 [weight]
///
/// These larger matrices are the executor's own, and used for one layer after another.
template <typename T>
class FoldBiasExecutor final : public SharedMemoryExecutor<T> {
 public:
  /// @throws Error as SharedMemoryExecutor does.
  FoldBiasExecutor(const SharedMemoryOptions& options, FoldBias how) : SharedMemoryExecutor<T>(options), how_(how) {}

  using SharedMemoryExecutor<T>::run;
  void run(const FoldedLinear& op);
  void run(const FoldedGradients& op);

 private:
  void prepare(const Program& program) override;
  void run(const Line& line) override { run_in_range(*this, line); }

  void reserve(ValueId weight, bool with_gradients);
  LinearProblem<T> layer(ValueId input, ValueId weight, ValueId bias);
  void copy(const T* from, T* to, Index elements);

  /// Assembles the larger matrices from a layer's own.
  void fold(const LinearProblem<T>& layer);

  /// Extracts the gradient of the layer's input from the larger matrix's.
  void unfold_input_gradient(const LinearProblem<T>& layer, T* dinput);

  FoldBias how_;
  Tensor<T> input_;            ///< [rows, 1 + in]
  Tensor<T> weight_;           ///< [1 + in, out]
  Tensor<T> input_gradient_;   ///< [rows, 1 + in]
  Tensor<T> weight_gradient_;  ///< [1 + in, out]
  Tensor<T> helper_;           ///< for in_place
};

extern template class FoldBiasExecutor<float>;
extern template class FoldBiasExecutor<double>;

}  // namespace stagewise

/// @file
/// Stage 04: a function for each fused operation, in addition to those of stage 03.
#pragma once

#include <iterator>
#include <map>
#include <vector>

#include "03_shared_memory/shared_memory_executor.hpp"
#include "04_minibatch/convolution/convolution.hpp"
#include "04_minibatch/output_layer/output_layer.hpp"

namespace stagewise {

/// Executes each fused line with a kernel of its own.
template <typename T>
class FusedExecutor : public SharedMemoryExecutor<T> {
 public:
  using SharedMemoryExecutor<T>::run;
  void run(const Linear& op);
  void run(const LinearInputGradient& op);
  void run(const LinearGradients& op);
  void run(const OutputLayer& op);
  void run(const Loss& op);
  void run(const AddPartials& op);
  void run(const AddShares& op);
  void run(const ConvolutionReluPool& op);
  void run(const PoolReluBackward& op);

  /// Where the device counts the steps before those of a recording; see TotalsProblem.
  void count_steps_from(const std::int64_t* steps_before) { steps_before_ = steps_before; }

 protected:
  /// @throws Error if no GPU can be used.
  FusedExecutor();

  void prepare(const Program& program) override;

  /// A copy in the device's memory.
  template <typename U>
  Tensor<U> copied(const std::vector<U>& values) {
    Tensor<U> copy({std::ssize(values)}, this->memory());
    this->copy_in(copy.data(), values.data(), values.size() * sizeof(U));
    return copy;
  }

  /// The line's sizes, and the addresses of its values.
  ConvolutionReluPoolProblem<T> problem_of(const ConvolutionReluPool& op);

 private:
  /// The gradient of a worker that has nothing to do, if there is such an operand.
  void set_to_zero(const Writes<Real>& gradient);

  /// The sizes of a layer, and where its input and its weight are.
  /// @param batched any value with its samples.
  LinearProblem<T> layer_of(ValueId batched, const Reads<Real>& input, ValueId weight);

  /// All of the problem but its outputs and their gradients.
  /// @param op OutputLayer or Loss.
  template <typename Op>
  minibatch::LossProblem<T> loss_problem(const Op& op, Index classes);

  minibatch::TotalsProblem totals_problem(const Reads<BlockPartial>& partials,
                                          const Updates<Totals>& totals);

  /// Nothing to do if the operation has no operands.
  minibatch::SharesProblem<T> shares_problem(const AddShares& op);

  /// @param gradient,parameter one of them, or neither: null.
  static GradientTarget<T> target_of(T* gradient, T* parameter, double learning_rate, double l2);

  /// Whether no kernel of a step computes a line's input: it is the data set. Its order is that of
  /// a recording, which the kernel before the first step copies.
  /// @param op Linear or LinearGradients.
  template <typename Op>
  bool input_is_independent(const Op& op) const {
    return static_cast<bool>(op.order) && this->batch().step > 1;
  }

  Tensor<T> one_;  ///< 1, 0, 0, 0
  std::map<ValueId, Index> partial_counts_;
  std::map<ValueId, bool> behind_linear_;  ///< by partials: whether the line before is `linear`
  const std::int64_t* steps_before_ = nullptr;
};

extern template class FusedExecutor<float>;
extern template class FusedExecutor<double>;

}  // namespace stagewise

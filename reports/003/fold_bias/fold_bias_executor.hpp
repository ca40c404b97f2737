/// @file
/// Stage 03 with the bias as one more row of the weights: `--fold-bias`.
#pragma once

#include "03_shared_memory/shared_memory_executor.hpp"
#include "reports/003/fold_bias/fold_bias.hpp"

namespace stagewise {

/// Computes the operations that fold_biases() has inserted; everything else is stage 03's.
template <typename T>
class FoldBiasExecutor final : public SharedMemoryExecutor<T> {
 public:
  /// @throws Error as SharedMemoryExecutor does.
  FoldBiasExecutor(const SharedMemoryOptions& options, shared_memory::FoldBias how)
      : SharedMemoryExecutor<T>(options), folded_(how) {}

  using SharedMemoryExecutor<T>::run;
  void run(const FoldedLinear& op);
  void run(const FoldedGradients& op);

 private:
  void prepare(const Program& program) override;

  void run(const Line& line) override { run_in_range(*this, line); }

  LinearProblem<T> layer(ValueId input, ValueId weight, ValueId bias);

  shared_memory::FoldedLayer<T> folded_;
};

extern template class FoldBiasExecutor<float>;
extern template class FoldBiasExecutor<double>;

}  // namespace stagewise

/// @file
/// Stage 03 with convolutions by im2col: `ladder rungs --convolution im2col`.
#pragma once

#include "03_shared_memory/shared_memory_executor.hpp"
#include "ladders/convolution/im2col.hpp"

namespace stagewise {

/// Multiplies im2col matrices by the rung that multiplies everything else; the rest is stage 03's.
template <typename T>
class Im2colExecutor final : public SharedMemoryExecutor<T> {
 public:
  /// @throws Error and UsageError as SharedMemoryExecutor does.
  using SharedMemoryExecutor<T>::SharedMemoryExecutor;

  using SharedMemoryExecutor<T>::run;
  void run(const Convolution& op);
  void run(const ConvolutionBackward& op);

 private:
  void prepare(const Program& program) override;
  void run(const Line& line) override { run_in_range(*this, line); }

  /// Room for the im2col matrix: it is there since prepare(), and else is made now.
  ladder::Im2colImages<T> columns_for(const ConvolutionProblem& problem);

  Tensor<T> columns_;
};

extern template class Im2colExecutor<float>;
extern template class Im2colExecutor<double>;

}  // namespace stagewise

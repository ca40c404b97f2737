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
  void run(const Convolution& op) {
    const ConvolutionProblem problem = this->problem(op.input, op.filter);
    ladder::convolution(this->stream(), problem, this->at(op.input), this->at(op.filter), this->at(op.output),
                        columns_for(problem), this->workspace(), this->gemm_rung());
  }
  void run(const ConvolutionBackward& op) {
    const ConvolutionProblem problem = this->problem(op.input, op.filter);
    ladder::convolution_backward(this->stream(), problem, this->at(op.input), this->at(op.filter), this->at(op.doutput),
                                 this->at(op.dinput), this->at(op.dfilter), columns_for(problem), this->workspace(),
                                 this->gemm_rung());
  }

 private:
  void prepare(const Program& program) override {
    SharedMemoryExecutor<T>::prepare(program);
    for (const Line& line : program.lines) {
      if (const auto* const forward = std::get_if<Convolution>(&line.operation)) {
        columns_for(this->problem(forward->input, forward->filter));
      } else if (const auto* const back = std::get_if<ConvolutionBackward>(&line.operation)) {
        columns_for(this->problem(back->input, back->filter));
      }
    }
  }
  void run(const Line& line) override { run_in_range(*this, line); }

  /// Room for the im2col matrix: it is there since prepare(), and else is made now.
  ladder::Im2colImages<T> columns_for(const ConvolutionProblem& problem) {
    const Index images = ladder::images_at_a_time<T>(problem);
    const Index elements = images * ladder::im2col_elements(problem);
    if (columns_.elements() < elements) columns_ = Tensor<T>({elements}, this->memory());
    return {columns_.data(), images};
  }

  Tensor<T> columns_;
};

}  // namespace stagewise

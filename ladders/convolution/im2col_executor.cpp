#include "ladders/convolution/im2col_executor.hpp"

#include <variant>

namespace stagewise {

template <typename T>
void Im2colExecutor<T>::prepare(const Program& program) {
  SharedMemoryExecutor<T>::prepare(program);
  for (const Line& line : program.lines) {
    if (const auto* const forward = std::get_if<Convolution>(&line.operation)) {
      columns_for(this->problem(forward->input, forward->filter));
    } else if (const auto* const back = std::get_if<ConvolutionBackward>(&line.operation)) {
      columns_for(this->problem(back->input, back->filter));
    }
  }
}

template <typename T>
ladder::Im2colImages<T> Im2colExecutor<T>::columns_for(const ConvolutionProblem& problem) {
  const Index images = ladder::images_at_a_time<T>(problem);
  const Index elements = images * ladder::im2col_elements(problem);
  if (columns_.elements() < elements) columns_ = Tensor<T>({elements}, this->memory());
  return {columns_.data(), images};
}

template <typename T>
void Im2colExecutor<T>::run(const Convolution& op) {
  const ConvolutionProblem problem = this->problem(op.input, op.filter);
  ladder::convolution(this->stream(), problem, this->at(op.input), this->at(op.filter),
                      this->at(op.output), columns_for(problem), this->workspace(),
                      this->gemm_rung());
}

template <typename T>
void Im2colExecutor<T>::run(const ConvolutionBackward& op) {
  const ConvolutionProblem problem = this->problem(op.input, op.filter);
  ladder::convolution_backward(this->stream(), problem, this->at(op.input), this->at(op.filter),
                               this->at(op.doutput), this->at(op.dinput), this->at(op.dfilter),
                               columns_for(problem), this->workspace(), this->gemm_rung());
}

template class Im2colExecutor<float>;
template class Im2colExecutor<double>;

}  // namespace stagewise

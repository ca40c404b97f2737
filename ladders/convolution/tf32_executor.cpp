#include "ladders/convolution/tf32_executor.hpp"

#include "03_shared_memory/kernels.hpp"
#include "ladders/convolution/tf32_convolution.hpp"

namespace stagewise {

void Tf32Executor::run(const ConvolutionReluPool& op) {
  if (this->shard(op.output).rows == 0) return;
  ladder::convolution_relu_pool_in_tf32(this->stream(), problem_of(op), workspace());
}

void Tf32Executor::run(const ConvolutionBackward& op) {
  const ConvolutionProblem problem = this->problem(op.input, op.filter);
  if (!shared_memory::fits_windows(problem)) return MinibatchExecutor<float>::run(op);
  ladder::filter_gradient_in_tf32(this->stream(), problem, this->at(op.input), this->at(op.doutput),
                                  this->at(op.dfilter), workspace());
  if (!op.dinput) return;
  ladder::input_gradient_in_tf32(this->stream(), problem, this->at(op.filter), this->at(op.doutput),
                                 this->at(op.dinput), workspace());
}

}  // namespace stagewise

#include "03_shared_memory/shared_memory_executor.hpp"

namespace stagewise {

template <typename T>
SharedMemoryExecutor<T>::SharedMemoryExecutor(const SharedMemoryOptions& options,
                                              Ladder<GemmProblem<T>> products)
    : column_sums_(&find_rung(shared_memory::column_sums_ladder<T>(), options.reduce)),
      reduce_(options.reduce),
      convolution_(options.convolution) {
  if (options.gemm == "auto") return;
  gemm_ = &find_rung(products, options.gemm);
  if (const Support support = gemm_->supports({}); !support) {
    throw Error("--gemm " + options.gemm + " cannot be used here: " + support.reason);
  }
}

template <typename T>
void SharedMemoryExecutor<T>::multiply(const GemmProblem<T>& problem) {
  shared_memory::gemm(this->stream(), problem, workspace(), gemm_);
}

//! [run]
template <typename T>
void SharedMemoryExecutor<T>::run(const Gemm& op) {
  multiply(this->problem(op));
}

template <typename T>
void SharedMemoryExecutor<T>::run(const ColumnSums& op) {
  const Index columns = this->columns(op.y);
  column_sums_->run(this->stream(),
                    {this->elements(op.x) / columns, columns, this->at(op.x), this->at(op.y)},
                    workspace());
}
//! [run]

template <typename T>
void SharedMemoryExecutor<T>::run(const Accumulate& op) {
  shared_memory::accumulate<T>(
      this->stream(), reduce_,
      {this->elements(op.row_losses), this->at(op.row_losses), this->at(op.classes),
       this->at(op.labels), this->batch().step, this->at(op.totals)});
}

template <typename T>
void SharedMemoryExecutor<T>::run(const Convolution& op) {
  shared_memory::convolution(this->stream(), convolution_, this->problem(op.input, op.filter),
                             this->at(op.input), this->at(op.filter), this->at(op.output),
                             workspace());
}

template <typename T>
void SharedMemoryExecutor<T>::run(const ConvolutionBackward& op) {
  shared_memory::convolution_backward(this->stream(), convolution_,
                                      this->problem(op.input, op.filter), this->at(op.input),
                                      this->at(op.filter), this->at(op.doutput),
                                      this->at(op.dinput), this->at(op.dfilter), workspace());
}

template class SharedMemoryExecutor<float>;
template class SharedMemoryExecutor<double>;

}  // namespace stagewise

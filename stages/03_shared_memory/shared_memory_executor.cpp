#include "03_shared_memory/shared_memory_executor.hpp"

namespace stagewise {

using shared_memory::ConvolutionVariant;

template <typename T>
SharedMemoryExecutor<T>::SharedMemoryExecutor(const SharedMemoryOptions& options,
                                              shared_memory::Ladder<GemmProblem<T>> products)
    : column_sums_(&find_rung(shared_memory::column_sums_ladder<T>(), options.reduce)),
      reduce_(options.reduce),
      convolution_(options.convolution) {
  if (options.gemm == "auto") return;
  gemm_ = &find_rung(products, options.gemm);
  // The implicit variant is tied to the top of the ladder; what was asked for is used everywhere.
  if (convolution_ == ConvolutionVariant::automatic) convolution_ = ConvolutionVariant::im2col;
  if (const shared_memory::Support support = gemm_->supports({}); !support) {
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
void SharedMemoryExecutor<T>::prepare(const Program& program) {
  NaiveCudaExecutor<T>::prepare(program);
  for (const Line& line : program.lines) {
    this->select_lane(line.lane);
    for (const Operation& operation :
         line.replaces.empty() ? std::vector{line.operation} : line.replaces) {
      const auto* const forward = std::get_if<Convolution>(&operation);
      const auto* const backward = std::get_if<ConvolutionBackward>(&operation);
      if (forward != nullptr && convolution_ == ConvolutionVariant::im2col) {
        im2col_images(this->problem(forward->input, forward->filter));
      }
      if (backward != nullptr && needs_columns(line)) {
        im2col_images(this->problem(backward->input, backward->filter));
      }
    }
  }
  this->select_lane(0);
}

/// Room for the im2col matrix: it is there since prepare(), and else is made now.
template <typename T>
shared_memory::Im2colImages<T> SharedMemoryExecutor<T>::im2col_images(
    const ConvolutionProblem& problem) {
  if (convolution_ == ConvolutionVariant::direct) return {};
  const Index images = shared_memory::images_at_a_time<T>(problem);
  const Index elements = images * shared_memory::im2col_elements(problem);
  Tensor<T>& columns = scratch().columns;
  if (columns.elements() < elements) columns = Tensor<T>({elements}, this->memory());
  return {columns.data(), images};
}

template <typename T>
void SharedMemoryExecutor<T>::run(const Convolution& op) {
  const ConvolutionProblem problem = this->problem(op.input, op.filter);
  shared_memory::Im2colImages<T> columns;
  if (convolution_ == ConvolutionVariant::im2col) columns = im2col_images(problem);
  shared_memory::convolution(this->stream(), convolution_, problem, this->at(op.input),
                             this->at(op.filter), this->at(op.output), columns, workspace(), gemm_);
}

template <typename T>
void SharedMemoryExecutor<T>::run(const ConvolutionBackward& op) {
  const ConvolutionProblem problem = this->problem(op.input, op.filter);
  shared_memory::convolution_backward(this->stream(), convolution_, problem, this->at(op.input),
                                      this->at(op.filter), this->at(op.doutput),
                                      this->at(op.dinput), this->at(op.dfilter),
                                      im2col_images(problem), workspace(), gemm_);
}

template class SharedMemoryExecutor<float>;
template class SharedMemoryExecutor<double>;

}  // namespace stagewise

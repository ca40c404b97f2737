#include "02_naive_cuda/naive_cuda_executor.hpp"

#include <algorithm>

#include "02_naive_cuda/average_pool.hpp"
#include "02_naive_cuda/convolution.hpp"
#include "02_naive_cuda/elementwise.hpp"
#include "02_naive_cuda/loss.hpp"
#include "02_naive_cuda/predict.hpp"
#include "02_naive_cuda/reduce.hpp"
#include "02_naive_cuda/update.hpp"
#include "cuda/check.hpp"
#include "cuda/memory.hpp"

namespace stagewise {

template <typename T>
Memory& NaiveCudaExecutor<T>::memory() {
  return cuda::device_memory();
}

template <typename T>
Memory& NaiveCudaExecutor<T>::staging_memory() {
  return cuda::pinned_memory();
}

template <typename T>
void NaiveCudaExecutor<T>::copy_in(void* to, const void* host, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, main_.get()));
  synchronize();  // the caller may reuse `host`
}

template <typename T>
void NaiveCudaExecutor<T>::copy_out(void* host, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, main_.get()));
  synchronize();
}

template <typename T>
double NaiveCudaExecutor<T>::measure(const std::function<void()>& work) {
  synchronize();
  start_.record(main_);
  work();
  stop_.record(main_);
  synchronize();
  return stop_.seconds_since(start_);
}

template <typename T>
void NaiveCudaExecutor<T>::prepare(const Program& program) {
  for (const Line& line : program.lines) {
    if (const Gather* const op = std::get_if<Gather>(&line.operation)) prepare_gather(*op);
  }
}

template <typename T>
void NaiveCudaExecutor<T>::prepare_gather(const Gather& op) {
  const Shape shape = this->value(op.batch).shape.batched(this->max_rows());
  if (host_batch_.elements() >= shape.elements()) return;
  host_batch_ = Tensor<T>(shape, staging_memory());
  host_labels_ = Tensor<std::int32_t>({this->max_rows()}, staging_memory());
}

//! [gather]
template <typename T>
void NaiveCudaExecutor<T>::run(const Gather& op) {
  // The device still works on the batch before while the host gathers this one.
  const auto samples = this->samples(op.batch);
  this->dataset()->gather(samples, host_batch_.data());
  this->dataset()->gather_labels(samples, host_labels_.data());
  copy_in(this->at(op.batch), host_batch_.data(),
          static_cast<std::size_t>(this->elements(op.batch)) * sizeof(T));
  copy_in(this->at(op.batch_labels), host_labels_.data(), samples.size() * sizeof(std::int32_t));
}
//! [gather]

//! [run]
template <typename T>
void NaiveCudaExecutor<T>::run(const Gemm& op) {
  naive_cuda::gemm(stream(), this->problem(op), block_size_);
}

template <typename T>
void NaiveCudaExecutor<T>::run(const AddBias& op) {
  const Index columns = this->columns(op.bias);
  naive_cuda::add_bias(stream(), this->elements(op.x) / columns, columns, this->at(op.x),
                       this->at(op.bias), this->at(op.y));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Relu& op) {
  naive_cuda::relu(stream(), this->elements(op.x), this->at(op.x), this->at(op.y));
}
//! [run]

template <typename T>
void NaiveCudaExecutor<T>::run(const ColumnSums& op) {
  const Index columns = this->columns(op.y);
  naive_cuda::column_sums(stream(), this->elements(op.x) / columns, columns, this->at(op.x),
                          this->at(op.y));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Sum& op) {
  T* const sum = this->at(op.sum);
  run(Copy{.x = op.terms.front(), .y = op.sum});
  for (std::size_t i = 1; i < op.terms.size(); ++i) {
    naive_cuda::add(stream(), this->elements(op.sum), sum, this->at(op.terms[i]), sum);
  }
}

template <typename T>
void NaiveCudaExecutor<T>::run(const ReluBackward& op) {
  naive_cuda::relu_backward(stream(), this->elements(op.y), this->at(op.y), this->at(op.dy),
                            this->at(op.dx));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Sigmoid& op) {
  naive_cuda::sigmoid(stream(), this->elements(op.x), this->at(op.x), this->at(op.y));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const SigmoidBackward& op) {
  naive_cuda::sigmoid_backward(stream(), this->elements(op.y), this->at(op.y), this->at(op.dy),
                               this->at(op.dx));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const SoftmaxCrossEntropy& op) {
  naive_cuda::softmax_cross_entropy(stream(), this->rows(op.logits), this->columns(op.logits),
                                    this->at(op.logits), this->at(op.labels),
                                    this->at(op.probabilities), this->at(op.row_losses));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const SoftmaxCrossEntropyBackward& op) {
  naive_cuda::softmax_cross_entropy_backward(
      stream(), this->rows(op.dlogits), this->columns(op.dlogits), this->batch_rows(op.dlogits),
      this->at(op.probabilities), this->at(op.labels), this->at(op.dlogits));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const SquaredError& op) {
  naive_cuda::squared_error(stream(), this->rows(op.outputs), this->columns(op.outputs),
                            this->at(op.outputs), this->at(op.labels), this->at(op.row_losses));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const SquaredErrorBackward& op) {
  naive_cuda::squared_error_backward(stream(), this->rows(op.outputs), this->columns(op.outputs),
                                     this->batch_rows(op.doutputs), this->at(op.outputs),
                                     this->at(op.labels), this->at(op.doutputs));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const ArgMax& op) {
  naive_cuda::argmax(stream(), this->rows(op.outputs), this->columns(op.outputs),
                     this->at(op.outputs), this->at(op.classes));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Threshold& op) {
  naive_cuda::threshold(stream(), this->rows(op.outputs), static_cast<T>(op.threshold),
                        this->at(op.outputs), this->at(op.classes));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Accumulate& op) {
  naive_cuda::accumulate(stream(), this->elements(op.row_losses), this->at(op.row_losses),
                         this->at(op.classes), this->at(op.labels), this->batch().step,
                         this->at(op.totals));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Convolution& op) {
  naive_cuda::convolution(stream(), this->problem(op.input, op.filter), this->at(op.input),
                          this->at(op.filter), this->at(op.output));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const ConvolutionBackward& op) {
  naive_cuda::convolution_backward(stream(), this->problem(op.input, op.filter), this->at(op.input),
                                   this->at(op.filter), this->at(op.doutput), this->at(op.dinput),
                                   this->at(op.dfilter));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const AveragePool& op) {
  naive_cuda::average_pool(stream(), this->pooling(op.input, op.window), this->at(op.input),
                           this->at(op.output));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const AveragePoolBackward& op) {
  naive_cuda::average_pool_backward(stream(), this->pooling(op.dinput, op.window),
                                    this->at(op.doutput), this->at(op.dinput));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const SgdUpdate& op) {
  if (this->shard(op.parameter).rows == 0) return;  // of a worker that has nothing to do
  naive_cuda::sgd_update(stream(), this->elements(op.parameter), static_cast<T>(op.learning_rate),
                         static_cast<T>(op.l2), this->at(op.gradient), this->at(op.parameter));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Mean& op) {
  run(Sum{.terms = op.terms, .sum = op.mean});
  naive_cuda::divide(stream(), this->elements(op.mean), static_cast<T>(op.terms.size()),
                     this->at(op.mean));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Copy& op) {
  CUDA_CHECK(cudaMemcpyAsync(this->at(op.y), this->at(op.x),
                             static_cast<std::size_t>(this->elements(op.x)) * sizeof(T),
                             cudaMemcpyDeviceToDevice, stream()));
}

template class NaiveCudaExecutor<float>;
template class NaiveCudaExecutor<double>;

}  // namespace stagewise

#include "01_serial/serial_executor.hpp"

#include <algorithm>
#include <cstring>

#include "01_serial/average_pool.hpp"
#include "01_serial/convolution.hpp"
#include "01_serial/elementwise.hpp"
#include "01_serial/loss.hpp"
#include "01_serial/predict.hpp"
#include "01_serial/reduce.hpp"
#include "01_serial/update.hpp"

namespace stagewise {

template <typename T>
void SerialExecutor<T>::copy_in(void* to, const void* host, std::size_t bytes) {
  std::memcpy(to, host, bytes);
}

template <typename T>
void SerialExecutor<T>::copy_out(void* host, const void* from, std::size_t bytes) {
  std::memcpy(host, from, bytes);
}

template <typename T>
void SerialExecutor<T>::run(const Gather& op) {
  this->dataset()->gather(this->samples(op.batch), this->at(op.batch));
  this->dataset()->gather_labels(this->samples(op.batch), this->at(op.batch_labels));
}

//! [run]
template <typename T>
void SerialExecutor<T>::run(const Gemm& op) {
  serial::gemm(gemm_variant_, this->problem(op));
}

template <typename T>
void SerialExecutor<T>::run(const AddBias& op) {
  const Index columns = this->columns(op.bias);
  serial::add_bias(this->elements(op.x) / columns, columns, this->at(op.x), this->at(op.bias),
                   this->at(op.y));
}

template <typename T>
void SerialExecutor<T>::run(const Relu& op) {
  serial::relu(this->elements(op.x), this->at(op.x), this->at(op.y));
}
//! [run]

template <typename T>
void SerialExecutor<T>::run(const ColumnSums& op) {
  const Index columns = this->columns(op.y);
  serial::column_sums(this->elements(op.x) / columns, columns, this->at(op.x), this->at(op.y));
}

template <typename T>
void SerialExecutor<T>::run(const Sum& op) {
  T* const sum = this->at(op.sum);
  const Index n = this->elements(op.sum);
  std::copy_n(this->at(op.terms.front()), n, sum);
  for (std::size_t i = 1; i < op.terms.size(); ++i) {
    serial::add(n, sum, this->at(op.terms[i]), sum);
  }
}

template <typename T>
void SerialExecutor<T>::run(const ReluBackward& op) {
  serial::relu_backward(this->elements(op.y), this->at(op.y), this->at(op.dy), this->at(op.dx));
}

template <typename T>
void SerialExecutor<T>::run(const Sigmoid& op) {
  serial::sigmoid(this->elements(op.x), this->at(op.x), this->at(op.y));
}

template <typename T>
void SerialExecutor<T>::run(const SigmoidBackward& op) {
  serial::sigmoid_backward(this->elements(op.y), this->at(op.y), this->at(op.dy), this->at(op.dx));
}

template <typename T>
void SerialExecutor<T>::run(const SoftmaxCrossEntropy& op) {
  serial::softmax_cross_entropy(this->rows(op.logits), this->columns(op.logits),
                                this->at(op.logits), this->at(op.labels),
                                this->at(op.probabilities), this->at(op.row_losses));
}

template <typename T>
void SerialExecutor<T>::run(const SoftmaxCrossEntropyBackward& op) {
  serial::softmax_cross_entropy_backward(this->rows(op.dlogits), this->columns(op.dlogits),
                                         this->batch_rows(op.dlogits), this->at(op.probabilities),
                                         this->at(op.labels), this->at(op.dlogits));
}

template <typename T>
void SerialExecutor<T>::run(const SquaredError& op) {
  serial::squared_error(this->rows(op.outputs), this->columns(op.outputs), this->at(op.outputs),
                        this->at(op.labels), this->at(op.row_losses));
}

template <typename T>
void SerialExecutor<T>::run(const SquaredErrorBackward& op) {
  serial::squared_error_backward(this->rows(op.outputs), this->columns(op.outputs),
                                 this->batch_rows(op.doutputs), this->at(op.outputs),
                                 this->at(op.labels), this->at(op.doutputs));
}

template <typename T>
void SerialExecutor<T>::run(const ArgMax& op) {
  serial::argmax(this->rows(op.outputs), this->columns(op.outputs), this->at(op.outputs),
                 this->at(op.classes));
}

template <typename T>
void SerialExecutor<T>::run(const Threshold& op) {
  serial::threshold(this->rows(op.outputs), static_cast<T>(op.threshold), this->at(op.outputs),
                    this->at(op.classes));
}

template <typename T>
void SerialExecutor<T>::run(const Accumulate& op) {
  serial::accumulate(this->elements(op.row_losses), this->at(op.row_losses), this->at(op.classes),
                     this->at(op.labels), this->batch().step, this->at(op.totals));
}

template <typename T>
void SerialExecutor<T>::run(const Convolution& op) {
  serial::convolution(this->problem(op.input, op.filter), this->at(op.input), this->at(op.filter),
                      this->at(op.output));
}

template <typename T>
void SerialExecutor<T>::run(const ConvolutionBackward& op) {
  serial::convolution_backward(this->problem(op.input, op.filter), this->at(op.input),
                               this->at(op.filter), this->at(op.doutput), this->at(op.dinput),
                               this->at(op.dfilter));
}

template <typename T>
void SerialExecutor<T>::run(const AveragePool& op) {
  serial::average_pool(this->pooling(op.input, op.window), this->at(op.input), this->at(op.output));
}

template <typename T>
void SerialExecutor<T>::run(const AveragePoolBackward& op) {
  serial::average_pool_backward(this->pooling(op.dinput, op.window), this->at(op.doutput),
                                this->at(op.dinput));
}

template <typename T>
void SerialExecutor<T>::run(const SgdUpdate& op) {
  if (this->shard(op.parameter).rows == 0) return;  // of a worker that has nothing to do
  serial::sgd_update(this->elements(op.parameter), static_cast<T>(op.learning_rate),
                     static_cast<T>(op.l2), this->at(op.gradient), this->at(op.parameter));
}

template <typename T>
void SerialExecutor<T>::run(const Mean& op) {
  T* const mean = this->at(op.mean);
  for (Index i = 0; i < this->elements(op.mean); ++i) {
    double sum = 0;
    for (const Reads<Real>& term : op.terms) sum += static_cast<double>(this->at(term)[i]);
    mean[i] = static_cast<T>(sum / static_cast<double>(op.terms.size()));
  }
}

template <typename T>
void SerialExecutor<T>::run(const Copy& op) {
  std::copy_n(this->at(op.x), this->elements(op.x), this->at(op.y));
}

template class SerialExecutor<float>;
template class SerialExecutor<double>;

}  // namespace stagewise

#include "01_serial/serial_backend.hpp"

#include <algorithm>
#include <cstring>

#include "01_serial/average_pool.hpp"
#include "01_serial/convolution.hpp"
#include "01_serial/elementwise.hpp"
#include "01_serial/loss.hpp"
#include "01_serial/predict.hpp"
#include "01_serial/reduce.hpp"
#include "01_serial/transpose.hpp"
#include "01_serial/update.hpp"

namespace stagewise {

template <typename T>
void SerialBackend<T>::copy_in(void* to, const void* host, std::size_t bytes) {
  std::memcpy(to, host, bytes);
}

template <typename T>
void SerialBackend<T>::copy_out(void* host, const void* from, std::size_t bytes) {
  std::memcpy(host, from, bytes);
}

template <typename T>
void SerialBackend<T>::fill(Index n, T value, T* x) {
  std::fill_n(x, n, value);
}

template <typename T>
void SerialBackend<T>::gemm(const GemmProblem<T>& problem) {
  serial::gemm(gemm_form_, problem);
}

template <typename T>
void SerialBackend<T>::transpose(Index rows, Index cols, const T* x, T* y) {
  serial::transpose(rows, cols, x, y);
}

template <typename T>
void SerialBackend<T>::sum(Index n, const T* x, T* out) {
  serial::sum(n, x, out);
}

template <typename T>
void SerialBackend<T>::sum_rows(Index rows, Index cols, const T* x, T* out) {
  serial::sum_rows(rows, cols, x, out);
}

template <typename T>
void SerialBackend<T>::add_bias(Index rows, Index cols, const T* x, const T* bias, T* y) {
  serial::add_bias(rows, cols, x, bias, y);
}

template <typename T>
void SerialBackend<T>::relu(Index n, const T* x, T* y) {
  serial::relu(n, x, y);
}

template <typename T>
void SerialBackend<T>::relu_backward(Index n, const T* y, const T* dy, T* dx) {
  serial::relu_backward(n, y, dy, dx);
}

template <typename T>
void SerialBackend<T>::sigmoid(Index n, const T* x, T* y) {
  serial::sigmoid(n, x, y);
}

template <typename T>
void SerialBackend<T>::sigmoid_backward(Index n, const T* y, const T* dy, T* dx) {
  serial::sigmoid_backward(n, y, dy, dx);
}

template <typename T>
void SerialBackend<T>::softmax_cross_entropy(Index rows, Index cols, const T* logits,
                                             const std::int32_t* labels, T* probabilities,
                                             T* row_losses) {
  serial::softmax_cross_entropy(rows, cols, logits, labels, probabilities, row_losses);
}

template <typename T>
void SerialBackend<T>::softmax_cross_entropy_backward(Index rows, Index cols,
                                                      const T* probabilities,
                                                      const std::int32_t* labels, T* dlogits) {
  serial::softmax_cross_entropy_backward(rows, cols, probabilities, labels, dlogits);
}

template <typename T>
void SerialBackend<T>::squared_error(Index rows, Index cols, const T* outputs,
                                     const std::int32_t* labels, T* row_losses) {
  serial::squared_error(rows, cols, outputs, labels, row_losses);
}

template <typename T>
void SerialBackend<T>::squared_error_backward(Index rows, Index cols, const T* outputs,
                                              const std::int32_t* labels, T* doutputs) {
  serial::squared_error_backward(rows, cols, outputs, labels, doutputs);
}

template <typename T>
void SerialBackend<T>::argmax(Index rows, Index cols, const T* x, std::int32_t* out) {
  serial::argmax(rows, cols, x, out);
}

template <typename T>
void SerialBackend<T>::threshold(Index rows, T cut, const T* x, std::int32_t* out) {
  serial::threshold(rows, cut, x, out);
}

template <typename T>
void SerialBackend<T>::accumulate(Index rows, const T* row_losses, const std::int32_t* predictions,
                                  const std::int32_t* labels, std::int64_t step, Totals* totals) {
  serial::accumulate(rows, row_losses, predictions, labels, step, totals);
}

template <typename T>
void SerialBackend<T>::convolution(const ConvolutionProblem& problem, const T* input,
                                   const T* filter, T* output) {
  serial::convolution(problem, input, filter, output);
}

template <typename T>
void SerialBackend<T>::convolution_backward(const ConvolutionProblem& problem, const T* input,
                                            const T* filter, const T* doutput, T* dinput,
                                            T* dfilter) {
  serial::convolution_backward(problem, input, filter, doutput, dinput, dfilter);
}

template <typename T>
void SerialBackend<T>::average_pool(const PoolingProblem& problem, const T* input, T* output) {
  serial::average_pool(problem, input, output);
}

template <typename T>
void SerialBackend<T>::average_pool_backward(const PoolingProblem& problem, const T* doutput,
                                             T* dinput) {
  serial::average_pool_backward(problem, doutput, dinput);
}

template <typename T>
void SerialBackend<T>::sgd_update(Index n, T learning_rate, T l2, const T* gradient, T* parameter) {
  serial::sgd_update(n, learning_rate, l2, gradient, parameter);
}

template class SerialBackend<float>;
template class SerialBackend<double>;

}  // namespace stagewise

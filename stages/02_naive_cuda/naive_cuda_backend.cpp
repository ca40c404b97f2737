#include "02_naive_cuda/naive_cuda_backend.hpp"

#include "02_naive_cuda/average_pool.hpp"
#include "02_naive_cuda/convolution.hpp"
#include "02_naive_cuda/elementwise.hpp"
#include "02_naive_cuda/loss.hpp"
#include "02_naive_cuda/predict.hpp"
#include "02_naive_cuda/reduce.hpp"
#include "02_naive_cuda/transpose.hpp"
#include "02_naive_cuda/update.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/memory.hpp"
#include "cuda/range.hpp"

namespace stagewise {

template <typename T>
NaiveCudaBackend<T>::NaiveCudaBackend(int block_size) : block_size_(block_size) {}

template <typename T>
Memory& NaiveCudaBackend<T>::memory() {
  return cuda::device_memory();
}

template <typename T>
Memory& NaiveCudaBackend<T>::staging_memory() {
  return cuda::pinned_memory();
}

template <typename T>
void NaiveCudaBackend<T>::copy_in(void* to, const void* host, std::size_t bytes) {
  const cuda::Range range("copy in");
  CUDA_CHECK(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, stream()));
  synchronize();  // the caller may reuse `host`
}

template <typename T>
void NaiveCudaBackend<T>::copy_out(void* host, const void* from, std::size_t bytes) {
  const cuda::Range range("copy out");
  CUDA_CHECK(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, stream()));
  synchronize();
}

template <typename T>
void NaiveCudaBackend<T>::synchronize() {
  stream_.synchronize();
}

template <typename T>
double NaiveCudaBackend<T>::measure(const std::function<void()>& work) {
  synchronize();
  start_.record(stream_);
  work();
  stop_.record(stream_);
  synchronize();
  return stop_.seconds_since(start_);
}

template <typename T>
void NaiveCudaBackend<T>::fill(Index n, T value, T* x) {
  const cuda::Range range("fill");
  naive_cuda::fill(stream(), n, value, x);
}

template <typename T>
void NaiveCudaBackend<T>::gemm(const GemmProblem<T>& problem) {
  const cuda::Range range("gemm");
  naive_cuda::gemm(stream(), problem, block_size_);
}

template <typename T>
void NaiveCudaBackend<T>::transpose(Index rows, Index cols, const T* x, T* y) {
  const cuda::Range range("transpose");
  naive_cuda::transpose(stream(), rows, cols, x, y);
}

template <typename T>
void NaiveCudaBackend<T>::sum(Index n, const T* x, T* out) {
  const cuda::Range range("sum");
  naive_cuda::sum(stream(), n, x, out);
}

template <typename T>
void NaiveCudaBackend<T>::sum_rows(Index rows, Index cols, const T* x, T* out) {
  const cuda::Range range("sum_rows");
  naive_cuda::sum_rows(stream(), rows, cols, x, out);
}

template <typename T>
void NaiveCudaBackend<T>::add_bias(Index rows, Index cols, const T* x, const T* bias, T* y) {
  const cuda::Range range("add_bias");
  naive_cuda::add_bias(stream(), rows, cols, x, bias, y);
}

template <typename T>
void NaiveCudaBackend<T>::relu(Index n, const T* x, T* y) {
  const cuda::Range range("relu");
  naive_cuda::relu(stream(), n, x, y);
}

template <typename T>
void NaiveCudaBackend<T>::relu_backward(Index n, const T* y, const T* dy, T* dx) {
  const cuda::Range range("relu_backward");
  naive_cuda::relu_backward(stream(), n, y, dy, dx);
}

template <typename T>
void NaiveCudaBackend<T>::sigmoid(Index n, const T* x, T* y) {
  const cuda::Range range("sigmoid");
  naive_cuda::sigmoid(stream(), n, x, y);
}

template <typename T>
void NaiveCudaBackend<T>::sigmoid_backward(Index n, const T* y, const T* dy, T* dx) {
  const cuda::Range range("sigmoid_backward");
  naive_cuda::sigmoid_backward(stream(), n, y, dy, dx);
}

template <typename T>
void NaiveCudaBackend<T>::softmax_cross_entropy(Index rows, Index cols, const T* logits,
                                                const std::int32_t* labels, T* probabilities,
                                                T* row_losses) {
  const cuda::Range range("softmax_cross_entropy");
  naive_cuda::softmax_cross_entropy(stream(), rows, cols, logits, labels, probabilities,
                                    row_losses);
}

template <typename T>
void NaiveCudaBackend<T>::softmax_cross_entropy_backward(Index rows, Index cols,
                                                         const T* probabilities,
                                                         const std::int32_t* labels, T* dlogits) {
  const cuda::Range range("softmax_cross_entropy_backward");
  naive_cuda::softmax_cross_entropy_backward(stream(), rows, cols, probabilities, labels, dlogits);
}

template <typename T>
void NaiveCudaBackend<T>::squared_error(Index rows, Index cols, const T* outputs,
                                        const std::int32_t* labels, T* row_losses) {
  const cuda::Range range("squared_error");
  naive_cuda::squared_error(stream(), rows, cols, outputs, labels, row_losses);
}

template <typename T>
void NaiveCudaBackend<T>::squared_error_backward(Index rows, Index cols, const T* outputs,
                                                 const std::int32_t* labels, T* doutputs) {
  const cuda::Range range("squared_error_backward");
  naive_cuda::squared_error_backward(stream(), rows, cols, outputs, labels, doutputs);
}

template <typename T>
void NaiveCudaBackend<T>::argmax(Index rows, Index cols, const T* x, std::int32_t* out) {
  const cuda::Range range("argmax");
  naive_cuda::argmax(stream(), rows, cols, x, out);
}

template <typename T>
void NaiveCudaBackend<T>::threshold(Index rows, T cut, const T* x, std::int32_t* out) {
  const cuda::Range range("threshold");
  naive_cuda::threshold(stream(), rows, cut, x, out);
}

template <typename T>
void NaiveCudaBackend<T>::accumulate(Index rows, const T* row_losses,
                                     const std::int32_t* predictions, const std::int32_t* labels,
                                     std::int64_t step, Totals* totals) {
  const cuda::Range range("accumulate");
  naive_cuda::accumulate(stream(), rows, row_losses, predictions, labels, step, totals);
}

template <typename T>
void NaiveCudaBackend<T>::convolution(const ConvolutionProblem& problem, const T* input,
                                      const T* filter, T* output) {
  const cuda::Range range("convolution");
  naive_cuda::convolution(stream(), problem, input, filter, output);
}

template <typename T>
void NaiveCudaBackend<T>::convolution_backward(const ConvolutionProblem& problem, const T* input,
                                               const T* filter, const T* doutput, T* dinput,
                                               T* dfilter) {
  const cuda::Range range("convolution_backward");
  naive_cuda::convolution_backward(stream(), problem, input, filter, doutput, dinput, dfilter);
}

template <typename T>
void NaiveCudaBackend<T>::average_pool(const PoolingProblem& problem, const T* input, T* output) {
  const cuda::Range range("average_pool");
  naive_cuda::average_pool(stream(), problem, input, output);
}

template <typename T>
void NaiveCudaBackend<T>::average_pool_backward(const PoolingProblem& problem, const T* doutput,
                                                T* dinput) {
  const cuda::Range range("average_pool_backward");
  naive_cuda::average_pool_backward(stream(), problem, doutput, dinput);
}

template <typename T>
void NaiveCudaBackend<T>::sgd_update(Index n, T learning_rate, T l2, const T* gradient,
                                     T* parameter) {
  const cuda::Range range("sgd_update");
  naive_cuda::sgd_update(stream(), n, learning_rate, l2, gradient, parameter);
}

template class NaiveCudaBackend<float>;
template class NaiveCudaBackend<double>;

}  // namespace stagewise

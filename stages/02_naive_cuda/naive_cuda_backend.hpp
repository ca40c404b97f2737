/// @file
/// Stage 02's backend: every primitive as a kernel with one thread per output element.
#pragma once

#include "02_naive_cuda/gemm.hpp"
#include "backend/backend.hpp"
#include "cuda/handles.hpp"

namespace stagewise {

/// Forwards every primitive to the kernels of namespace naive_cuda, all in one stream: each begins
/// when the one before has ended. Everything lives in the GPU's memory and is allocated once.
template <typename T>
class NaiveCudaBackend : public Backend<T> {
 public:
  /// @param block_size side of the blocks of threads in gemm(): 4, 8, 16 or 32.
  /// @throws Error if no GPU can be used.
  explicit NaiveCudaBackend(int block_size = naive_cuda::default_block_size);

  Memory& memory() override;
  Memory& staging_memory() override;
  bool host_accessible() const override { return false; }
  void copy_in(void* to, const void* host, std::size_t bytes) override;
  void copy_out(void* host, const void* from, std::size_t bytes) override;
  void fill(Index n, T value, T* x) override;
  void synchronize() override;
  double measure(const std::function<void()>& work) override;

  void gemm(const GemmProblem<T>& problem) override;
  void transpose(Index rows, Index cols, const T* x, T* y) override;
  void sum(Index n, const T* x, T* out) override;
  void sum_rows(Index rows, Index cols, const T* x, T* out) override;

  void add_bias(Index rows, Index cols, const T* x, const T* bias, T* y) override;
  void relu(Index n, const T* x, T* y) override;
  void relu_backward(Index n, const T* y, const T* dy, T* dx) override;
  void sigmoid(Index n, const T* x, T* y) override;
  void sigmoid_backward(Index n, const T* y, const T* dy, T* dx) override;

  void softmax_cross_entropy(Index rows, Index cols, const T* logits, const std::int32_t* labels,
                             T* probabilities, T* row_losses) override;
  void softmax_cross_entropy_backward(Index rows, Index cols, const T* probabilities,
                                      const std::int32_t* labels, T* dlogits) override;
  void squared_error(Index rows, Index cols, const T* outputs, const std::int32_t* labels,
                     T* row_losses) override;
  void squared_error_backward(Index rows, Index cols, const T* outputs, const std::int32_t* labels,
                              T* doutputs) override;
  void argmax(Index rows, Index cols, const T* x, std::int32_t* out) override;
  void threshold(Index rows, T cut, const T* x, std::int32_t* out) override;
  void accumulate(Index rows, const T* row_losses, const std::int32_t* predictions,
                  const std::int32_t* labels, std::int64_t step, Totals* totals) override;

  void convolution(const ConvolutionProblem& problem, const T* input, const T* filter,
                   T* output) override;
  void convolution_backward(const ConvolutionProblem& problem, const T* input, const T* filter,
                            const T* doutput, T* dinput, T* dfilter) override;
  void average_pool(const PoolingProblem& problem, const T* input, T* output) override;
  void average_pool_backward(const PoolingProblem& problem, const T* doutput, T* dinput) override;

  void sgd_update(Index n, T learning_rate, T l2, const T* gradient, T* parameter) override;

  /// Where all work goes, in the order of the calls.
  const cuda::Stream& own_stream() const { return stream_; }

 protected:
  cudaStream_t stream() const { return stream_.get(); }

 private:
  cuda::Stream stream_;
  cuda::Event start_;  ///< of what is measured
  cuda::Event stop_;
  int block_size_;
};

extern template class NaiveCudaBackend<float>;
extern template class NaiveCudaBackend<double>;

}  // namespace stagewise

/// @file
/// Stage 01's backend: every primitive as a loop on one core.
#pragma once

#include "01_serial/gemm.hpp"
#include "backend/backend.hpp"

namespace stagewise {

/// Forwards every primitive to the loops of namespace serial.
template <typename T>
class SerialBackend : public Backend<T> {
 public:
  explicit SerialBackend(serial::GemmForm gemm_form = serial::GemmForm::reordered)
      : gemm_form_(gemm_form) {}

  Memory& memory() override { return host_memory(); }
  bool host_accessible() const override { return true; }
  void copy_in(void* to, const void* host, std::size_t bytes) override;
  void copy_out(void* host, const void* from, std::size_t bytes) override;
  void fill(Index n, T value, T* x) override;
  void synchronize() override {}

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

 private:
  serial::GemmForm gemm_form_;
};

extern template class SerialBackend<float>;
extern template class SerialBackend<double>;

}  // namespace stagewise

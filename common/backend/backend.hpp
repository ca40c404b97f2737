/// @file
/// The "instruction set" of the network: what every stage implements in its own way.
#pragma once

#include <cstdint>
#include <functional>

#include "backend/problems.hpp"
#include "tensor/tensor.hpp"

namespace stagewise {

/// Every operation a network needs, on one kind of memory. A stage is first of all one
/// implementation of this class: stage 01 with loops, stage 02 with a kernel each, and so on.
///
/// Matrices are row-major; `rows` is the batch. Operations may be asynchronous: they take effect in
/// the order of the calls, and the host waits only in copy_out() and synchronize(). Nothing
/// allocates but allocate() and prepare(). All pointers but those named `host` point into memory().
/// @tparam T float or double.
template <typename T>
class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// @name Memory
  /// @{

  /// Where all tensors of this backend live.
  virtual Memory& memory() = 0;

  /// Memory of the host for what is on its way to memory() or back.
  virtual Memory& staging_memory() { return host_memory(); }

  /// Whether the host can follow pointers into memory(), so that reading costs nothing.
  virtual bool host_accessible() const = 0;

  /// An uninitialized tensor in memory().
  /// @param asker as in Memory::allocate().
  template <typename U>
  Tensor<U> allocate(const Shape& shape, CodeLine asker = CodeLine::here()) {
    return Tensor<U>(shape, memory(), asker);
  }

  /// Copies `bytes` bytes from the host's memory; `host` may be reused on return.
  virtual void copy_in(void* to, const void* host, std::size_t bytes) = 0;

  /// Copies `bytes` bytes to the host's memory; they are there on return.
  virtual void copy_out(void* host, const void* from, std::size_t bytes) = 0;

  /// x[i] = value for the first n elements.
  virtual void fill(Index n, T value, T* x) = 0;

  /// Waits until everything that was asked for has been done.
  virtual void synchronize() = 0;

  /// Seconds that `work` takes, alone: what was asked for before is done by then. Waits for it.
  /// Pass large closures by std::cref(), so that nothing is allocated.
  virtual double measure(const std::function<void()>& work);

  /// Announces a layer while the graph is built, with its largest batch, so that a stage can
  /// allocate what it needs beside the operands. Pointers may be null but for `bias`, which says
  /// whether there is one. A larger one that is announced later may take the place of what was
  /// allocated before: launches that were recorded until then must not be repeated.
  virtual void prepare(const LinearProblem<T>& /*largest*/, bool /*with_gradients*/) {}

  /// Likewise for a convolution.
  virtual void prepare(const ConvolutionProblem& /*largest*/, bool /*with_gradients*/) {}

  /// @}
  /// @name Matrices
  /// @{

  /// C = alpha op(A) op(B) + beta C. With beta = 0, C is written without being read.
  virtual void gemm(const GemmProblem<T>& problem) = 0;

  /// y = x^T: x is [rows, cols], y is [cols, rows]; they must not overlap.
  virtual void transpose(Index rows, Index cols, const T* x, T* y) = 0;

  /// out[0] = the sum of n elements.
  virtual void sum(Index n, const T* x, T* out) = 0;

  /// out[j] = the sum of column j of x [rows, cols]: the gradient of a bias.
  virtual void sum_rows(Index rows, Index cols, const T* x, T* out) = 0;

  /// @}
  /// @name Elementwise; `y` may be `x`
  /// @{

  /// y[i, j] = x[i, j] + bias[j].
  virtual void add_bias(Index rows, Index cols, const T* x, const T* bias, T* y) = 0;

  /// y = max(x, 0); a NaN stays NaN.
  virtual void relu(Index n, const T* x, T* y) = 0;

  /// dx = dy where y > 0, else 0: relu'(0) = 0. `dx` may be `dy`.
  virtual void relu_backward(Index n, const T* y, const T* dy, T* dx) = 0;

  /// y = 1 / (1 + exp(-x)).
  virtual void sigmoid(Index n, const T* x, T* y) = 0;

  /// dx = dy y (1 - y). `dx` may be `dy`.
  virtual void sigmoid_backward(Index n, const T* y, const T* dy, T* dx) = 0;

  /// @}
  /// @name Losses and predictions
  /// @{

  /// For every row of `logits` [rows, cols]: probabilities = softmax(logits), also [rows, cols],
  /// and row_losses[i] = -log probabilities[i, labels[i]], computed without forming that
  /// logarithm's argument, so that it stays finite where the probability underflows.
  virtual void softmax_cross_entropy(Index rows, Index cols, const T* logits,
                                     const std::int32_t* labels, T* probabilities,
                                     T* row_losses) = 0;

  /// The gradient of the mean over the batch: dlogits = (probabilities - onehot(labels)) / rows.
  virtual void softmax_cross_entropy_backward(Index rows, Index cols, const T* probabilities,
                                              const std::int32_t* labels, T* dlogits) = 0;

  /// row_losses[i] = sum over j of (target[i, j] - outputs[i, j])^2. The target is 1 in the label's
  /// column and 0 elsewhere; where cols is 1, it is the label itself, as a number.
  virtual void squared_error(Index rows, Index cols, const T* outputs, const std::int32_t* labels,
                             T* row_losses) = 0;

  /// The gradient of the mean over the batch: doutputs = 2 (outputs - target) / rows.
  virtual void squared_error_backward(Index rows, Index cols, const T* outputs,
                                      const std::int32_t* labels, T* doutputs) = 0;

  /// out[i] = the column of the largest element of row i; the lowest column wins ties.
  virtual void argmax(Index rows, Index cols, const T* x, std::int32_t* out) = 0;

  /// out[i] = 1 where x[i] >= cut, else 0: the class that a single output unit names.
  virtual void threshold(Index rows, T cut, const T* x, std::int32_t* out) = 0;

  /// Adds one batch to the epoch's totals: the losses in a fixed order, into a double;
  /// the rows whose prediction is their label; and, in `first_bad_step`, `step` if the batch's loss
  /// is not finite and no earlier one was. `totals` lives in memory().
  virtual void accumulate(Index rows, const T* row_losses, const std::int32_t* predictions,
                          const std::int32_t* labels, std::int64_t step, Totals* totals) = 0;

  /// @}
  /// @name Images
  /// @{

  /// output[b, y, x, o] = sum over i, j, c of input[b, y + i, x + j, c] filter[i, j, c, o].
  virtual void convolution(const ConvolutionProblem& problem, const T* input, const T* filter,
                           T* output) = 0;

  /// The gradients of convolution(); `dinput` may be null where nobody needs it.
  virtual void convolution_backward(const ConvolutionProblem& problem, const T* input,
                                    const T* filter, const T* doutput, T* dinput, T* dfilter) = 0;

  /// The mean of every window of pool x pool pixels, windows side by side.
  virtual void average_pool(const PoolingProblem& problem, const T* input, T* output) = 0;

  /// The gradient of average_pool(): each pixel gets its window's share.
  virtual void average_pool_backward(const PoolingProblem& problem, const T* doutput,
                                     T* dinput) = 0;

  /// @}
  /// @name Learning
  /// @{

  /// parameter -= learning_rate (gradient + l2 parameter), elementwise.
  virtual void sgd_update(Index n, T learning_rate, T l2, const T* gradient, T* parameter) = 0;

  /// @}
  /// @name Composites: built from the primitives here, fused where a stage can do better
  /// @{

  /// output = activation(input weight + bias).
  virtual void linear(const LinearProblem<T>& layer);

  /// The gradients of linear(), given the gradient of its output. Overwrites `layer.doutput`.
  virtual void linear_backward(const LinearBackwardProblem<T>& layer);

  /// output = average_pool(relu(convolution(input, filter) + bias)).
  virtual void convolution_relu_pool(const ConvolutionReluPoolProblem<T>& layer);

  /// The gradients of convolution_relu_pool().
  virtual void convolution_relu_pool_backward(const ConvolutionReluPoolBackwardProblem<T>& layer);

  /// Whether linear_backward() can take the gradient of its input through the activation that made
  /// this input, so that the layer below need not.
  virtual bool fuses_activation_backward() const { return false; }

  /// Whether convolution_relu_pool() computes this layer, with this batch or a smaller one, without
  /// `activated`: it may then be null where no backward pass follows. Looks at no pointer.
  virtual bool fuses_pooling(const ConvolutionReluPoolProblem<T>& /*layer*/) const { return false; }

  /// Whether linear() and linear_backward() can pick the rows of their input; see Selection.
  virtual bool selects_rows() const { return false; }

  /// @}

 protected:
  /// Applies a layer's activation to its output, in place.
  void activate(const LinearProblem<T>& layer);

  /// From the gradient of a layer's output to the one before its activation, in place.
  void activate_backward(const LinearBackwardProblem<T>& layer);

  /// From the gradient of y, the output of an activation, to that of its input, in place.
  void activation_backward(Activation activation, Index n, const T* y, T* gradient);

  /// Delivers a finished gradient of n elements: applies the update if the sink asks for it.
  void deliver(Index n, const GradientSink<T>& sink);
};

extern template class Backend<float>;
extern template class Backend<double>;

}  // namespace stagewise

/// @file
/// What stage 02 computes on the GPU: each function enqueues kernels into a stream. Each section is
/// a file of the same name.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::naive_cuda {

/// @name gemm.cu: the matrix product
/// @{

/// The default side of a square block of threads: 256 threads.
constexpr int default_block_size = 16;

/// C = alpha op(A) op(B) + beta C; see GemmProblem for shapes. All sizes work, including 0 and 1.
/// With beta = 0, C is written without being read.
/// @param block_size side of the square block of threads: 1 to 32, as a block has at most 1,024.
template <typename T>
void gemm(cudaStream_t stream, const GemmProblem<T>& problem, int block_size = default_block_size);

/// @}

/// @name elementwise.cu: elementwise operations
/// @{

/// z = x + y; `z` may be `x`.
template <typename T>
void add(cudaStream_t stream, Index n, const T* x, const T* y, T* z);

/// x = x / divisor.
template <typename T>
void divide(cudaStream_t stream, Index n, T divisor, T* x);

/// y[i, j] = x[i, j] + bias[j]; `y` may be `x`.
template <typename T>
void add_bias(cudaStream_t stream, Index rows, Index cols, const T* x, const T* bias, T* y);

/// Whether activate() and activate_backward() compute it.
bool computes(Activation activation);

/// y = activation(x); `y` may be `x`.
/// @pre computes(activation); else it does nothing.
template <typename T>
void activate(cudaStream_t stream, Activation activation, Index n, const T* x, T* y);

/// dx = dy activation'(x), which y = activation(x) tells; `dx` may be `dy`.
/// @pre as above.
template <typename T>
void activate_backward(cudaStream_t stream, Activation activation, Index n, const T* y, const T* dy,
                       T* dx);

/// @}

/// @name reduce.cu: sums
/// @{

/// out[j] = the sum of column j of x [rows, cols]: the gradient of a bias.
template <typename T>
void column_sums(cudaStream_t stream, Index rows, Index cols, const T* x, T* out);

/// @}

/// @name predict.cu: from outputs to classes
/// @{

/// out[i] = the column of the largest element of row i of x [rows, cols]; the lowest column wins
/// ties.
template <typename T>
void argmax(cudaStream_t stream, Index rows, Index cols, const T* x, std::int32_t* out);

/// out[i] = 1 where x[i] >= cut, else 0.
template <typename T>
void threshold(cudaStream_t stream, Index rows, T cut, const T* x, std::int32_t* out);

/// @}

/// @name loss.cu: the two losses, and the epoch's totals
/// @{

/// probabilities = softmax(logits), row_losses[i] = -log probabilities[i, labels[i]].
template <typename T>
void softmax_cross_entropy(cudaStream_t stream, Index rows, Index cols, const T* logits,
                           const std::int32_t* labels, T* probabilities, T* row_losses);

/// dlogits = (probabilities - onehot(labels)) / batch_rows.
/// @param batch_rows rows of the whole batch, of which these rows may be a part.
template <typename T>
void softmax_cross_entropy_backward(cudaStream_t stream, Index rows, Index cols, Index batch_rows,
                                    const T* probabilities, const std::int32_t* labels, T* dlogits);

/// row_losses[i] = sum over j of (target[i, j] - outputs[i, j])^2.
template <typename T>
void squared_error(cudaStream_t stream, Index rows, Index cols, const T* outputs,
                   const std::int32_t* labels, T* row_losses);

/// doutputs = 2 (outputs - target) / batch_rows.
template <typename T>
void squared_error_backward(cudaStream_t stream, Index rows, Index cols, Index batch_rows,
                            const T* outputs, const std::int32_t* labels, T* doutputs);

/// Adds a batch's losses and correct predictions to the epoch's totals.
template <typename T>
void accumulate(cudaStream_t stream, Index rows, std::int64_t step, const T* row_losses,
                const std::int32_t* predictions, const std::int32_t* labels, Totals* totals);

/// @}

/// @name convolution.cu: 'Valid' convolution of stride 1; see ConvolutionProblem for the shapes
/// @{

/// output[b, y, x, o] = sum over i, j, c of input[b, y + i, x + j, c] filter[i, j, c, o].
template <typename T>
void convolution(cudaStream_t stream, const ConvolutionProblem& problem, const T* input,
                 const T* filter, T* output);

/// The gradients of convolution() with respect to its input and its filter.
/// @param dinput null if it is not needed.
template <typename T>
void convolution_backward(cudaStream_t stream, const ConvolutionProblem& problem, const T* input,
                          const T* filter, const T* doutput, T* dinput, T* dfilter);

/// @}

/// @name average_pool.cu: average pooling; see PoolingProblem for the shapes
/// @{

/// The mean of every window of window x window pixels, windows side by side.
template <typename T>
void average_pool(cudaStream_t stream, const PoolingProblem& problem, const T* input, T* output);

/// The gradient of average_pool(): each pixel gets its window's share.
template <typename T>
void average_pool_backward(cudaStream_t stream, const PoolingProblem& problem, const T* doutput,
                           T* dinput);

/// @}

/// @name update.cu: stochastic gradient descent and its variants
/// @{

/// parameter -= learning_rate (gradient + l2 parameter), elementwise.
template <typename T>
void sgd_update(cudaStream_t stream, Index n, T learning_rate, T l2, const T* gradient,
                T* parameter);

/// velocity = momentum velocity + (gradient + l2 parameter); parameter -= rate velocity.
/// @param rates in device memory.
/// @param velocity null: as if momentum were 0.
template <typename T>
void momentum_update(cudaStream_t stream, Index n, T momentum, T l2, const T* gradient,
                     const StepRates* rates, T* velocity, T* parameter);

/// The update of Adam; see AdamUpdate.
/// @param rates in device memory.
/// @param m, v the moving averages of the gradient and of its square.
template <typename T>
void adam_update(cudaStream_t stream, Index n, const AdamNumbers<T>& a, const T* gradient,
                 const StepRates* rates, T* m, T* v, T* parameter);

/// @}

}  // namespace stagewise::naive_cuda

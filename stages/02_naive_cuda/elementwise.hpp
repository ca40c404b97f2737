/// @file
/// Bias, activations and their gradients: one thread per element.
#pragma once

#include <cuda_runtime.h>

#include "tensor/shape.hpp"

namespace stagewise::naive_cuda {

/// z = x + y; `z` may be `x`.
template <typename T>
void add(cudaStream_t stream, Index n, const T* x, const T* y, T* z);

/// x = x / divisor.
template <typename T>
void divide(cudaStream_t stream, Index n, T divisor, T* x);

/// y[i, j] = x[i, j] + bias[j]; `y` may be `x`.
template <typename T>
void add_bias(cudaStream_t stream, Index rows, Index cols, const T* x, const T* bias, T* y);

/// y = max(x, 0); `y` may be `x`.
template <typename T>
void relu(cudaStream_t stream, Index n, const T* x, T* y);

/// dx = dy where y > 0, else 0; `dx` may be `dy`.
template <typename T>
void relu_backward(cudaStream_t stream, Index n, const T* y, const T* dy, T* dx);

/// y = 1 / (1 + exp(-x)); `y` may be `x`.
template <typename T>
void sigmoid(cudaStream_t stream, Index n, const T* x, T* y);

/// dx = dy y (1 - y); `dx` may be `dy`.
template <typename T>
void sigmoid_backward(cudaStream_t stream, Index n, const T* y, const T* dy, T* dx);

}  // namespace stagewise::naive_cuda

/// @file
/// Bias, activations and their gradients: one thread per element.
#pragma once

#include <cuda_runtime.h>

#include "network/activations.hpp"
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

}  // namespace stagewise::naive_cuda

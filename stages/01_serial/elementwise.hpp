/// @file
/// Elementwise operations: bias, activations and their gradients, sums.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

/// y[i, j] = x[i, j] + bias[j]; `y` may be `x`.
template <typename T>
void add_bias(Index rows, Index cols, const T* x, const T* bias, T* y);

/// y = max(x, 0); `y` may be `x`.
template <typename T>
void relu(Index n, const T* x, T* y);

/// dx = dy where y > 0, else 0; `dx` may be `dy`.
template <typename T>
void relu_backward(Index n, const T* y, const T* dy, T* dx);

/// y = 1 / (1 + exp(-x)); `y` may be `x`.
template <typename T>
void sigmoid(Index n, const T* x, T* y);

/// dx = dy y (1 - y); `dx` may be `dy`.
template <typename T>
void sigmoid_backward(Index n, const T* y, const T* dy, T* dx);

/// z = x + y; `z` may be `x`.
template <typename T>
void add(Index n, const T* x, const T* y, T* z);

}  // namespace stagewise::serial

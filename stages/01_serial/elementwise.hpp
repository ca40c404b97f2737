/// @file
/// Elementwise operations: bias, activations and their gradients, sums.
#pragma once

#include "network/activations.hpp"
#include "tensor/shape.hpp"

namespace stagewise::serial {

/// y[i, j] = x[i, j] + bias[j]; `y` may be `x`.
template <typename T>
void add_bias(Index rows, Index cols, const T* x, const T* bias, T* y);

/// Whether activate() and activate_backward() compute it.
bool computes(Activation activation);

/// y = activation(x); `y` may be `x`.
/// @pre computes(activation); else it does nothing.
template <typename T>
void activate(Activation activation, Index n, const T* x, T* y);

/// dx = dy activation'(x), which y = activation(x) tells; `dx` may be `dy`.
/// @pre as above.
template <typename T>
void activate_backward(Activation activation, Index n, const T* y, const T* dy, T* dx);

/// z = x + y; `z` may be `x`.
template <typename T>
void add(Index n, const T* x, const T* y, T* z);

}  // namespace stagewise::serial

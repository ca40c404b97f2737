/// @file
/// The update of stochastic gradient descent.
#pragma once

#include "tensor/shape.hpp"

namespace stagewise::serial {

/// parameter -= learning_rate (gradient + l2 parameter), elementwise.
template <typename T>
void sgd_update(Index n, T learning_rate, T l2, const T* gradient, T* parameter);

}  // namespace stagewise::serial

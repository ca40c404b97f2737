/// @file
/// The updates of stochastic gradient descent and its variants.
#pragma once

#include "network/problems.hpp"

namespace stagewise::serial {

/// parameter -= learning_rate (gradient + l2 parameter), elementwise.
template <typename T>
void sgd_update(Index n, T learning_rate, T l2, const T* gradient, T* parameter);

/// velocity = momentum velocity + (gradient + l2 parameter); parameter -= rate velocity.
/// @param velocity null: as if momentum were 0.
template <typename T>
void momentum_update(Index n, T momentum, T l2, const T* gradient, const StepRates* rates,
                     T* velocity, T* parameter);

/// The update of Adam (Kingma and Ba, 2015, algorithm 1), as PyTorch orders it.
/// @param m, v the moving averages of the gradient and of its square.
template <typename T>
void adam_update(Index n, const AdamNumbers<T>& a, const T* gradient, const StepRates* rates, T* m,
                 T* v, T* parameter);

}  // namespace stagewise::serial

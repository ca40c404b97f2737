/// @file
/// The updates of stochastic gradient descent and its variants.
#pragma once

#include <cmath>

#include "network/problems.hpp"

namespace stagewise::serial {

//! [sgd_update]
/// parameter -= learning_rate (gradient + l2 parameter), elementwise.
template <typename T>
void sgd_update(Index n, T learning_rate, T l2, const T* gradient, T* parameter) {
  for (Index i = 0; i < n; ++i) parameter[i] -= learning_rate * (gradient[i] + l2 * parameter[i]);
}
//! [sgd_update]

//! [momentum_update]
/// velocity = momentum velocity + (gradient + l2 parameter); parameter -= rate velocity.
/// @param velocity null: as if momentum were 0.
template <typename T>
void momentum_update(Index n, T momentum, T l2, const T* gradient, const StepRates* rates,
                     T* velocity, T* parameter) {
  const T rate = static_cast<T>(rates->rate);
  for (Index i = 0; i < n; ++i) {
    T direction = gradient[i] + l2 * parameter[i];
    if (velocity != nullptr) direction = velocity[i] = momentum * velocity[i] + direction;
    parameter[i] -= rate * direction;
  }
}
//! [momentum_update]

//! [adam_update]
/// The update of Adam (Kingma and Ba, 2015, algorithm 1), as PyTorch orders it.
/// @param m, v the moving averages of the gradient and of its square.
template <typename T>
void adam_update(Index n, const AdamNumbers<T>& a, const T* gradient, const StepRates* rates, T* m,
                 T* v, T* parameter) {
  const T rate = static_cast<T>(rates->rate);
  const T correction = static_cast<T>(rates->correction);
  for (Index i = 0; i < n; ++i) {
    const T g = gradient[i] + a.l2 * parameter[i];
    m[i] += a.new_in_first * (g - m[i]);
    v[i] = a.beta2 * v[i] + a.new_in_second * g * g;
    parameter[i] -= rate * m[i] / (std::sqrt(v[i]) / correction + a.epsilon);
  }
}
//! [adam_update]

}  // namespace stagewise::serial

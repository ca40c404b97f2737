/// @file
/// The loss of a row whose few outputs are in a thread's registers: its gradient and its
/// prediction. Loops over registers have a fixed end, so that the compiler can unroll them:
/// registers have no address that an index could select.
#pragma once

#include "04_minibatch/activation.cuh"
#include "04_minibatch/loss.hpp"

namespace stagewise::minibatch {

/// From the outputs of a row, the same in all lanes, to the gradients before their activation.
/// @return the row's loss.
template <int most, typename T>
__device__ T find_gradients(const LossProblem<T>& p, std::int32_t label, const T* y, T* gradient) {
  const auto classes = static_cast<int>(p.classes);
  const auto rows = static_cast<T>(p.batch_rows);
  T loss = 0;
  if (p.loss == LossKind::cross_entropy) {
    T largest = y[0];
#pragma unroll
    for (int j = 1; j < most; ++j) {
      if (j < classes && y[j] > largest) largest = y[j];
    }
    T sum = 0;
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j >= classes) continue;
      gradient[j] = exp(y[j] - largest);
      sum += gradient[j];
    }
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j >= classes) continue;
      const T onehot = j == label ? T{1} : T{0};
      gradient[j] = through_activation(p.activation, y[j], (gradient[j] / sum - onehot) / rows);
      if (j == label) loss = log(sum) - (y[j] - largest);
    }
    return loss;
  }
#pragma unroll
  for (int j = 0; j < most; ++j) {
    if (j >= classes) continue;
    const T onehot = j == label ? T{1} : T{0};
    const T difference = y[j] - (classes == 1 ? static_cast<T>(label) : onehot);
    loss += difference * difference;
    gradient[j] = through_activation(p.activation, y[j], 2 * difference / rows);
  }
  return loss;
}

/// The class that a row's outputs name; the lowest wins ties.
template <int most, typename T>
__device__ std::int32_t predict(const LossProblem<T>& p, const T* y) {
  if (p.has_threshold) return y[0] >= p.threshold ? 1 : 0;
  int best = 0;
  T largest = y[0];
#pragma unroll
  for (int j = 1; j < most; ++j) {
    if (j >= p.classes || !(y[j] > largest)) continue;
    largest = y[j];
    best = j;
  }
  return best;
}

}  // namespace stagewise::minibatch

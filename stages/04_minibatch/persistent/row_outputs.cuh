/// @file
/// The loss of a row whose outputs are in shared memory: any number of them.
#pragma once

#include "04_minibatch/activation.cuh"
#include "04_minibatch/persistent/mlp_steps.hpp"

namespace stagewise::minibatch::persistent {

/// The largest of a row's outputs.
template <typename T>
__device__ T largest_output(const T* y, int count) {
  T largest = y[0];
  for (int j = 1; j < count; ++j) {
    if (y[j] > largest) largest = y[j];
  }
  return largest;
}

/// The denominator of the softmax, relative to the largest output.
template <typename T>
__device__ T sum_of_exponentials(const T* y, int count, T largest) {
  T sum = 0;
#pragma unroll 4
  for (int j = 0; j < count; ++j) sum += exp(y[j] - largest);
  return sum;
}

/// What output j should be. A single output should be the label itself.
template <typename T>
__device__ T target_of(std::int32_t label, int j, int count) {
  if (count == 1) return static_cast<T>(label);
  return j == label ? T{1} : T{0};
}

/// The gradient of the mean loss with respect to output j, before its activation.
template <typename T>
__device__ T output_gradient(const Mlp<T>& mlp, const T* y, int j, std::int32_t label) {
  const auto count = static_cast<int>(mlp.shape.out);
  const auto rows = static_cast<T>(mlp.shape.rows);
  T gradient;
  if (mlp.loss == LossKind::cross_entropy) {
    const T largest = largest_output(y, count);
    const T onehot = j == label ? T{1} : T{0};
    gradient = (exp(y[j] - largest) / sum_of_exponentials(y, count, largest) - onehot) / rows;
  } else {
    gradient = 2 * (y[j] - target_of<T>(label, j, count)) / rows;
  }
  return through_activation(mlp.out_activation, y[j], gradient);
}

/// The loss of a row.
template <typename T>
__device__ T loss_of_row(const Mlp<T>& mlp, const T* y, std::int32_t label) {
  const auto count = static_cast<int>(mlp.shape.out);
  if (mlp.loss == LossKind::cross_entropy) {
    const T largest = largest_output(y, count);
    return log(sum_of_exponentials(y, count, largest)) - (y[label] - largest);
  }
  T loss = 0;
  for (int j = 0; j < count; ++j) {
    const T difference = y[j] - target_of<T>(label, j, count);
    loss += difference * difference;
  }
  return loss;
}

/// The class that a row's outputs name; the lowest wins ties.
template <typename T>
__device__ std::int32_t class_of_row(const Mlp<T>& mlp, const T* y) {
  if (mlp.has_threshold) return y[0] >= mlp.threshold ? 1 : 0;
  int best = 0;
  for (int j = 1; j < mlp.shape.out; ++j) {
    if (y[j] > y[best]) best = j;
  }
  return best;
}

}  // namespace stagewise::minibatch::persistent

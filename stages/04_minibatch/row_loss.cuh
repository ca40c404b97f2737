/// @file
/// The loss of a row of outputs: a warp computes its gradient and its prediction.
#pragma once

#include "03_shared_memory/warp.cuh"
#include "04_minibatch/activation.cuh"
#include "04_minibatch/loss.hpp"

namespace stagewise::minibatch {

//! [row]
/// Computes the gradient of a row, before its activation. All lanes of a warp call it.
/// @param y the outputs, of which `largest` is the largest.
/// @return the row's loss.
template <typename T>
__device__ T finish_row(const LossProblem<T>& p, const T* y, std::int32_t label, T largest,
                        T* gradient) {
  constexpr int warp_size = 32;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const auto rows = static_cast<T>(p.batch_rows);
  if (p.loss == LossKind::cross_entropy) {
    T sum = 0;
    for (Index j = lane; j < p.classes; j += warp_size) sum += exp(y[j] - largest);
    sum = shared_memory::sum_of_warp(sum);
    for (Index j = lane; j < p.classes; j += warp_size) {
      const T onehot = j == label ? T{1} : T{0};
      gradient[j] =
          through_activation(p.activation, y[j], (exp(y[j] - largest) / sum - onehot) / rows);
    }
    return log(sum) - (y[label] - largest);
  }
  T loss = 0;
  for (Index j = lane; j < p.classes; j += warp_size) {
    // A single output should be the label itself.
    const T onehot = j == label ? T{1} : T{0};
    const T difference = y[j] - (p.classes == 1 ? static_cast<T>(label) : onehot);
    loss += difference * difference;
    gradient[j] = through_activation(p.activation, y[j], 2 * difference / rows);
  }
  return shared_memory::sum_of_warp(loss);
}
//! [row]

/// The class that a row's outputs name; the lowest wins ties. All lanes of a warp call it.
template <typename T>
__device__ std::int32_t predict(const LossProblem<T>& p, const T* y, T largest) {
  constexpr int warp_size = 32;
  if (p.has_threshold) return y[0] >= p.threshold ? 1 : 0;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  constexpr int none = 0x7fffffff;
  int first = none;
  for (Index j = lane; j < p.classes && first == none; j += warp_size) {
    if (y[j] == largest) first = static_cast<int>(j);
  }
  return -shared_memory::largest_of_warp(-first);  // the smallest of the lanes
}

/// The loss of a row and whether its prediction is right, for the partial of a block. All lanes of
/// a warp call it; lane 0 gets the row, the others nothing.
template <typename T>
__device__ BlockPartial lose_row(const LossProblem<T>& p, const T* y, std::int32_t label,
                                 T* gradient) {
  constexpr int warp_size = 32;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  T largest = -static_cast<T>(INFINITY);
  for (Index j = lane; j < p.classes; j += warp_size) {
    if (y[j] > largest) largest = y[j];
  }
  largest = shared_memory::largest_of_warp(largest);
  const std::int32_t prediction = predict(p, y, largest);
  const T loss = finish_row(p, y, label, largest, gradient);
  if (lane != 0) return {};
  return {static_cast<double>(loss), prediction == label ? 1 : 0};
}

}  // namespace stagewise::minibatch

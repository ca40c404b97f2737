/// @file
/// The loss of a row of outputs: a warp computes its gradient and its prediction, or a group of
/// `lanes` neighbours in a warp.
#pragma once

#include "03_shared_memory/warp.cuh"
#include "04_minibatch/activation.cuh"
#include "04_minibatch/loss.hpp"

namespace stagewise::minibatch {

//! [row]
/// Computes the gradient of a row, before its activation. All lanes of the group call it.
/// @param y the outputs, of which `largest` is the largest.
/// @return the row's loss.
template <int lanes, typename T>
__device__ T finish_row(const LossProblem<T>& p, const T* y, std::int32_t label, T largest,
                        T* gradient) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const auto rows = static_cast<T>(p.batch_rows);
  if (p.loss == LossKind::cross_entropy) {
    T sum = 0;
    for (Index j = lane; j < p.classes; j += lanes) sum += exp(y[j] - largest);
    sum = shared_memory::sum_of_warp<lanes>(sum);
    for (Index j = lane; j < p.classes; j += lanes) {
      const T onehot = j == label ? T{1} : T{0};
      gradient[j] =
          through_activation(p.activation, y[j], (exp(y[j] - largest) / sum - onehot) / rows);
    }
    return log(sum) - (y[label] - largest);
  }
  T loss = 0;
  for (Index j = lane; j < p.classes; j += lanes) {
    // A single output should be the label itself.
    const T onehot = j == label ? T{1} : T{0};
    const T difference = y[j] - (p.classes == 1 ? static_cast<T>(label) : onehot);
    loss += difference * difference;
    gradient[j] = through_activation(p.activation, y[j], 2 * difference / rows);
  }
  return shared_memory::sum_of_warp<lanes>(loss);
}
//! [row]

/// The class that a row's outputs name; the lowest wins ties. All lanes of the group call it.
template <int lanes, typename T>
__device__ std::int32_t predict(const LossProblem<T>& p, const T* y, T largest) {
  if (p.has_threshold) return y[0] >= p.threshold ? 1 : 0;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  constexpr int none = 0x7fffffff;
  int first = none;
  for (Index j = lane; j < p.classes && first == none; j += lanes) {
    if (y[j] == largest) first = static_cast<int>(j);
  }
  return -shared_memory::largest_of_warp<lanes>(-first);  // the smallest of the lanes
}

/// The loss of a row and whether its prediction is right, for the partial of a block. All lanes of
/// the group call it; its first gets the row, the others nothing.
template <int lanes = 32, typename T>
__device__ BlockPartial lose_row(const LossProblem<T>& p, const T* y, std::int32_t label,
                                 T* gradient) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  T largest = -static_cast<T>(INFINITY);
  for (Index j = lane; j < p.classes; j += lanes) {
    if (y[j] > largest) largest = y[j];
  }
  largest = shared_memory::largest_of_warp<lanes>(largest);
  const std::int32_t prediction = predict<lanes>(p, y, largest);
  const T loss = finish_row<lanes>(p, y, label, largest, gradient);
  if (lane != 0) return {};
  return {static_cast<double>(loss), prediction == label ? 1 : 0};
}

}  // namespace stagewise::minibatch

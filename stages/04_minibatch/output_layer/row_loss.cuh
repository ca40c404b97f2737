/// @file
/// The loss of a row of outputs, its gradient and prediction: by a warp, or by `lanes` neighbouring
/// lanes, so that a warp takes several rows.
#pragma once

#include "03_shared_memory/warp.cuh"
#include "04_minibatch/linear/activation.cuh"
#include "04_minibatch/output_layer/output_layer.hpp"

namespace stagewise::minibatch {

/// Calls work(j) for the outputs of this lane: every `lanes`-th of `classes`.
/// @tparam one_per_lane whether there are no more outputs than lanes.
template <int lanes, bool one_per_lane, typename Work>
__device__ void for_own_outputs(Index classes, const Work& work) {
  const auto count = static_cast<int>(classes);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  if constexpr (one_per_lane) {
    if (lane < count) work(lane);
  } else {
    for (int j = lane; j < count; j += lanes) work(j);
  }
}

//! [row]
/// Computes the gradient of a row, before its activation. All lanes of the warp call it.
/// @param y the outputs, of which `largest` is the largest.
/// @return the row's loss.
template <int lanes, bool one_per_lane, typename T>
__device__ T finish_row(const LossProblem<T>& p, const T* y, std::int32_t label, T largest,
                        T* gradient) {
  const auto rows = static_cast<T>(p.batch_rows);
  if (p.loss == LossKind::cross_entropy) {
    T sum = 0;
    for_own_outputs<lanes, one_per_lane>(p.classes, [&](int j) {
      gradient[j] = exp(y[j] - largest);
      sum += gradient[j];
    });
    sum = shared_memory::sum_of_warp<lanes>(sum);
    for_own_outputs<lanes, one_per_lane>(p.classes, [&](int j) {
      const T onehot = j == label ? T{1} : T{0};
      gradient[j] = through_activation(p.activation, y[j], (gradient[j] / sum - onehot) / rows);
    });
    return log(sum) - (y[label] - largest);
  }
  T loss = 0;
  for_own_outputs<lanes, one_per_lane>(p.classes, [&](int j) {
    // A single output should be the label itself.
    const T onehot = j == label ? T{1} : T{0};
    const T difference = y[j] - (p.classes == 1 ? static_cast<T>(label) : onehot);
    loss += difference * difference;
    gradient[j] = through_activation(p.activation, y[j], 2 * difference / rows);
  });
  return shared_memory::sum_of_warp<lanes>(loss);
}
//! [row]

/// The class that a row's outputs name; the lowest wins ties. All lanes of the warp call it.
template <int lanes, bool one_per_lane, typename T>
__device__ std::int32_t predict(const LossProblem<T>& p, const T* y, T largest) {
  if (p.has_threshold) return y[0] >= p.threshold ? 1 : 0;
  constexpr int none = 0x7fffffff;
  int first = none;
  for_own_outputs<lanes, one_per_lane>(p.classes, [&](int j) {
    if (y[j] == largest && first == none) first = j;
  });
  return -shared_memory::largest_of_warp<lanes>(-first);  // the smallest of the lanes
}

/// The loss of a row and whether its prediction is right, for the partial of a block. All lanes of
/// the warp call it; the first lane of each row gets them, the others nothing.
template <int lanes = 32, bool one_per_lane = false, typename T>
__device__ BlockPartial row_loss(const LossProblem<T>& p, const T* y, std::int32_t label,
                                 T* gradient) {
  T largest = -static_cast<T>(INFINITY);
  for_own_outputs<lanes, one_per_lane>(p.classes, [&](int j) {
    if (y[j] > largest) largest = y[j];
  });
  largest = shared_memory::largest_of_warp<lanes>(largest);
  const std::int32_t prediction = predict<lanes, one_per_lane>(p, y, largest);
  const T loss = finish_row<lanes, one_per_lane>(p, y, label, largest, gradient);
  if (threadIdx.x % lanes != 0) return {};
  return {static_cast<double>(loss), prediction == label ? 1 : 0};
}

}  // namespace stagewise::minibatch

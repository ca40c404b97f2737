/// @file
/// The loss, its gradient, the predictions and the totals in one kernel.
///
/// Stage 03 took four: the loss wrote probabilities, the gradient read them again; argmax read the
/// outputs a second time; and one block added up what the others had written. Here a warp does all
/// of it for its row while it has the row at hand, each block leaves two numbers, and the last
/// block adds these up. Probabilities and single losses are not stored at all.
///
/// The order of all additions is fixed: a row's by its lanes, a block's rows by warp, the blocks'
/// sums by number.
///
/// Work: rows x classes elements read and written once; two exponentials for each.

#include "04_minibatch/score.cuh"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::all_lanes;
using shared_memory::warp_sum;

constexpr int warp_size = 32;
constexpr int threads = 256;
constexpr int warps = threads / warp_size;

/// The largest of a warp's values, for all of its lanes.
template <typename T>
__device__ T warp_largest(T value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    const T other = __shfl_xor_sync(all_lanes, value, distance);
    if (other > value) value = other;
  }
  return value;
}

/// The smallest of a warp's values, for all of its lanes.
__device__ int warp_smallest(int value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    const int other = __shfl_xor_sync(all_lanes, value, distance);
    if (other < value) value = other;
  }
  return value;
}

//! [row]
/// Computes a row's gradient. All lanes of a warp call it; lane 0 gets the row's loss.
template <typename T>
__device__ T finish_row(const LossProblem<T>& p, const T* y, std::int32_t label, T largest,
                        T* gradient) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const auto rows = static_cast<T>(p.rows);
  if (p.form == LossForm::softmax_cross_entropy) {
    T sum = 0;
    for (Index j = lane; j < p.classes; j += warp_size) sum += exp(y[j] - largest);
    sum = __shfl_sync(all_lanes, warp_sum(sum), 0);
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
  return warp_sum(loss);
}
//! [row]

/// The class that a row's outputs name; the lowest wins ties. All lanes of a warp call it.
template <typename T>
__device__ std::int32_t predict(const LossProblem<T>& p, const T* y, T largest) {
  if (p.is_cut) return y[0] >= p.cut ? 1 : 0;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  constexpr int none = 0x7fffffff;
  int first = none;
  for (Index j = lane; j < p.classes && first == none; j += warp_size) {
    if (y[j] == largest) first = static_cast<int>(j);
  }
  return warp_smallest(first);
}

//! [loss]
template <typename T>
__global__ void loss_kernel(LossProblem<T> p, BlockScores blocks) {
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  Score score;
  for (Index row = static_cast<Index>(blockIdx.x) * warps + warp; row < p.rows;
       row += static_cast<Index>(gridDim.x) * warps) {
    const T* const y = p.outputs + row * p.classes;
    const std::int32_t label = label_of(p, row);
    T largest = -static_cast<T>(INFINITY);
    for (Index j = lane; j < p.classes; j += warp_size) {
      if (y[j] > largest) largest = y[j];
    }
    largest = warp_largest(largest);
    const std::int32_t prediction = predict(p, y, largest);
    const T loss = finish_row(p, y, label, largest, p.doutputs + row * p.classes);
    if (lane != 0) continue;
    score.loss += static_cast<double>(loss);
    score.correct += prediction == label ? 1 : 0;
  }
  add_to_totals<threads>(score, blocks, p);
}
//! [loss]

}  // namespace

template <typename T>
void loss(cudaStream_t stream, const LossProblem<T>& problem, shared_memory::Workspace& workspace) {
  if (problem.rows == 0) return;
  const Index blocks =
      std::min<Index>(cuda::pieces(problem.rows, warps), Index{8} * cuda::multiprocessors());
  loss_kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      problem, BlockScores(workspace, blocks));
  CUDA_CHECK_LAUNCH("loss");
}

template void loss(cudaStream_t, const LossProblem<float>&, shared_memory::Workspace&);
template void loss(cudaStream_t, const LossProblem<double>&, shared_memory::Workspace&);

}  // namespace stagewise::minibatch

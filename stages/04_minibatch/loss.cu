/// @file
/// The loss, its gradient and the predictions in one kernel.
///
/// Stage 03 took four: the loss wrote probabilities, the gradient read them again; argmax read the
/// outputs a second time; and one block added up what the others had written. Here a warp does all
/// of it for its row while it has the row at hand. Each block leaves a partial (block_partial.cuh).
/// Probabilities and single losses are not stored at all.
///
/// Work: rows x classes elements read and written once; two exponentials for each.

#include "03_shared_memory/warp.cuh"
#include "04_minibatch/activation.cuh"
#include "04_minibatch/block_partial.cuh"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

using shared_memory::largest_of_warp;
using shared_memory::sum_of_warp;

constexpr int warp_size = 32;
constexpr int threads = 256;
constexpr int warps = threads / warp_size;

//! [row]
/// Computes a row's gradient and its loss. All lanes of a warp call it.
template <typename T>
__device__ T finish_row(const LossProblem<T>& p, const T* y, std::int32_t label, T largest,
                        T* gradient) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const auto rows = static_cast<T>(p.batch_rows);
  if (p.loss == LossKind::cross_entropy) {
    T sum = 0;
    for (Index j = lane; j < p.classes; j += warp_size) sum += exp(y[j] - largest);
    sum = sum_of_warp(sum);
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
  return sum_of_warp(loss);
}
//! [row]

/// The class that a row's outputs name; the lowest wins ties. All lanes of a warp call it.
template <typename T>
__device__ std::int32_t predict(const LossProblem<T>& p, const T* y, T largest) {
  if (p.has_threshold) return y[0] >= p.threshold ? 1 : 0;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  constexpr int none = 0x7fffffff;
  int first = none;
  for (Index j = lane; j < p.classes && first == none; j += warp_size) {
    if (y[j] == largest) first = static_cast<int>(j);
  }
  return -largest_of_warp(-first);  // the smallest of the lanes
}

//! [loss]
template <typename T>
__global__ void loss_kernel(LossProblem<T> p, BlockPartial* partials) {
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  BlockPartial partial;
  for (Index row = static_cast<Index>(blockIdx.x) * warps + warp; row < p.rows;
       row += static_cast<Index>(gridDim.x) * warps) {
    const T* const y = p.outputs + row * p.classes;
    const std::int32_t label = label_of(p, row);
    T largest = -static_cast<T>(INFINITY);
    for (Index j = lane; j < p.classes; j += warp_size) {
      if (y[j] > largest) largest = y[j];
    }
    largest = largest_of_warp(largest);
    const std::int32_t prediction = predict(p, y, largest);
    const T loss = finish_row(p, y, label, largest, p.doutputs + row * p.classes);
    if (lane != 0) continue;
    partial.loss += static_cast<double>(loss);
    partial.correct += prediction == label ? 1 : 0;
  }
  store_partial<threads>(partial, partials);
}
//! [loss]

//! [add_to_totals]
/// One block adds up the partials of a batch.
__global__ void add_to_totals_kernel(TotalsProblem p) {
  __shared__ BlockPartial batch;
  BlockPartial partial;
  for (Index i = threadIdx.x; i < p.count; i += threads) {
    partial.loss += p.partials[i].loss;
    partial.correct += p.partials[i].correct;
  }
  store_partial<threads>(partial, &batch);
  if (threadIdx.x != 0) return;
  if (!isfinite(batch.loss) && p.totals->first_bad_step < 0) {
    p.totals->first_bad_step = *p.steps_before + p.step;
  }
  p.totals->loss += batch.loss;
  p.totals->correct += batch.correct;
}
//! [add_to_totals]

}  // namespace

Index max_partials() {
  return Index{8} * cuda::multiprocessors();
}

template <typename T>
Index loss(cudaStream_t stream, const LossProblem<T>& problem, BlockPartial* partials) {
  if (problem.rows == 0) return 0;
  const Index blocks = std::min(cuda::pieces(problem.rows, warps), max_partials());
  loss_kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(problem, partials);
  CUDA_CHECK_LAUNCH("loss");
  return blocks;
}

void add_to_totals(cudaStream_t stream, const TotalsProblem& problem) {
  add_to_totals_kernel<<<1, threads, 0, stream>>>(problem);
  CUDA_CHECK_LAUNCH("add_to_totals");
}

template Index loss(cudaStream_t, const LossProblem<float>&, BlockPartial*);
template Index loss(cudaStream_t, const LossProblem<double>&, BlockPartial*);

}  // namespace stagewise::minibatch

/// @file
/// The sum or mean of what the workers have computed, for all parameters in one launch.
///
/// A network has a handful of parameters, most of them small: a launch for each, and for each
/// worker, would be all launches and no work. Here a block finds in a table which parameter it
/// works on.
///
/// A thread adds up the workers' values of its element, worker 0 first: the same bits in every run,
/// whichever worker is done first.
///
/// Work: for each element a number read for each worker, one read and one written.

#include "04_minibatch/update.hpp"
#include "cuda/launch.cuh"

namespace stagewise::minibatch {
namespace {

/// Which element of which parameter this thread works on.
struct ParameterElement {
  int parameter;
  Index index;  ///< may be past the last one
};

template <typename T>
__device__ ParameterElement find_element(const WorkersParameters<T>& p) {
  const auto block = static_cast<Index>(blockIdx.x);
  int parameter = 0;
  while (parameter + 1 < p.parameters && p.mean[parameter + 1].first_block <= block) ++parameter;
  return {parameter, (block - p.mean[parameter].first_block) * blockDim.x + threadIdx.x};
}

//! [sum_of_gradients]
template <typename T>
__global__ void update_by_sum_kernel(WorkersParameters<T> p, T learning_rate) {
  const ParameterElement at = find_element(p);
  const MeanParameter<T> mean = p.mean[at.parameter];
  if (at.index >= mean.elements) return;
  const T* const* const gradients = p.parts + at.parameter * p.workers;
  T gradient = 0;
  for (int worker = 0; worker < p.workers; ++worker) gradient += gradients[worker][at.index];
  T& value = mean.value[at.index];
  value -= learning_rate * (gradient + mean.l2 * value);
}
//! [sum_of_gradients]

//! [mean_weights]
template <typename T>
__global__ void mean_weights_kernel(WorkersParameters<T> p, bool workers_too) {
  const ParameterElement at = find_element(p);
  const MeanParameter<T> mean = p.mean[at.parameter];
  if (at.index >= mean.elements) return;
  T* const* const values = p.parts + at.parameter * p.workers;
  double sum = 0;
  for (int worker = 0; worker < p.workers; ++worker) {
    sum += static_cast<double>(values[worker][at.index]);
  }
  const T value = static_cast<T>(sum / p.workers);
  mean.value[at.index] = value;
  if (!workers_too) return;
  for (int worker = 0; worker < p.workers; ++worker) values[worker][at.index] = value;
}
//! [mean_weights]

}  // namespace

Index blocks_for(Index elements) {
  return cuda::pieces(elements, cuda::threads_per_block);
}

template <typename T>
void update_by_sum(cudaStream_t stream, const WorkersParameters<T>& p, T learning_rate) {
  if (p.blocks == 0) return;
  update_by_sum_kernel<<<static_cast<unsigned>(p.blocks), cuda::threads_per_block, 0, stream>>>(
      p, learning_rate);
  CUDA_CHECK_LAUNCH("update_by_sum");
}

template <typename T>
void average_weights(cudaStream_t stream, const WorkersParameters<T>& p, bool workers_too) {
  if (p.blocks == 0) return;
  mean_weights_kernel<<<static_cast<unsigned>(p.blocks), cuda::threads_per_block, 0, stream>>>(
      p, workers_too);
  CUDA_CHECK_LAUNCH("average_weights");
}

template void update_by_sum(cudaStream_t, const WorkersParameters<float>&, float);
template void update_by_sum(cudaStream_t, const WorkersParameters<double>&, double);
template void average_weights(cudaStream_t, const WorkersParameters<float>&, bool);
template void average_weights(cudaStream_t, const WorkersParameters<double>&, bool);

}  // namespace stagewise::minibatch

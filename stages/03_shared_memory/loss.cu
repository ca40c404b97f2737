/// @file
/// The losses: a warp a row.
///
/// Stage 02 gave a row to one thread. Its neighbours worked on the rows below, so that a warp
/// fetched 32 elements a row apart, and a batch of 100 kept 4 warps busy. Here, the lanes of a warp
/// stand side by side in a row: coalesced, and 32 times as many threads. The maximum and the sum go
/// from lane to lane by shuffles; shared memory and barriers are not needed. Rows of fewer than 32
/// elements leave lanes idle.
///
/// Each lane adds its elements in order, then the lanes add in pairs: another order than stage
/// 02's, and the same one in every run.
///
/// Run it: `stage03_shared_memory train`.
/// Work: softmax_cross_entropy() reads rows x cols elements twice, the second time from a cache,
/// writes them twice and takes as many exponentials; squared_error() reads them once.

#include "03_shared_memory/kernels.hpp"
#include "03_shared_memory/warp.cuh"
#include "cuda/launch.cuh"
#include "network/problems.hpp"

namespace stagewise::shared_memory {
namespace {

constexpr int warp_size = 32;
constexpr int warps_per_block = cuda::threads_per_block / warp_size;

/// The row of this thread's warp, the same for all its lanes.
__device__ Index row_of_warp() {
  return blockIdx.x * Index{warps_per_block} + threadIdx.y;
}

//! [softmax_cross_entropy]
template <typename T>
__global__ void softmax_cross_entropy_kernel(Index rows, Index cols, const T* __restrict__ logits,
                                             const std::int32_t* __restrict__ labels,
                                             T* __restrict__ probabilities,
                                             T* __restrict__ row_losses) {
  const Index row = row_of_warp();
  if (row >= rows) return;  // the whole warp, so that no shuffle waits for it
  const T* const z = logits + row * cols;
  T* const p = probabilities + row * cols;
  // A lane without an element knows of no maximum. A NaN is larger than nothing, here as in the
  // stages before; the sum of the exponentials brings it to light.
  T largest = -static_cast<T>(INFINITY);
  for (Index j = threadIdx.x; j < cols; j += warp_size) {
    if (z[j] > largest) largest = z[j];
  }
  largest = largest_of_warp(largest);
  T sum = 0;
  for (Index j = threadIdx.x; j < cols; j += warp_size) {
    p[j] = exp(z[j] - largest);
    sum += p[j];
  }
  sum = sum_of_warp(sum);
  // Each lane divides what it has written itself, so it need not wait for the others.
  for (Index j = threadIdx.x; j < cols; j += warp_size) p[j] /= sum;
  if (threadIdx.x == 0) row_losses[row] = log(sum) - (z[labels[row]] - largest);
}
//! [softmax_cross_entropy]

//! [squared_error]
template <typename T>
__global__ void squared_error_kernel(Index rows, Index cols, const T* __restrict__ outputs,
                                     const std::int32_t* __restrict__ labels,
                                     T* __restrict__ row_losses) {
  const Index row = row_of_warp();
  if (row >= rows) return;
  T loss = 0;
  for (Index j = threadIdx.x; j < cols; j += warp_size) {
    const T difference = target<T>(cols, j, labels[row]) - outputs[row * cols + j];
    loss += difference * difference;
  }
  loss = sum_of_warp(loss);
  if (threadIdx.x == 0) row_losses[row] = loss;
}
//! [squared_error]

unsigned blocks_for(Index rows) {
  return static_cast<unsigned>(cuda::pieces(rows, warps_per_block));
}

}  // namespace

template <typename T>
void softmax_cross_entropy(cudaStream_t stream, Index rows, Index cols, const T* logits,
                           const std::int32_t* labels, T* probabilities, T* row_losses) {
  if (rows == 0) return;
  const dim3 block(warp_size, warps_per_block);
  softmax_cross_entropy_kernel<<<blocks_for(rows), block, 0, stream>>>(rows, cols, logits, labels,
                                                                       probabilities, row_losses);
  CUDA_CHECK_LAUNCH("softmax_cross_entropy");
}

template <typename T>
void squared_error(cudaStream_t stream, Index rows, Index cols, const T* outputs,
                   const std::int32_t* labels, T* row_losses) {
  if (rows == 0) return;
  const dim3 block(warp_size, warps_per_block);
  squared_error_kernel<<<blocks_for(rows), block, 0, stream>>>(rows, cols, outputs, labels,
                                                               row_losses);
  CUDA_CHECK_LAUNCH("squared_error");
}

template void softmax_cross_entropy(cudaStream_t, Index, Index, const float*, const std::int32_t*,
                                    float*, float*);
template void softmax_cross_entropy(cudaStream_t, Index, Index, const double*, const std::int32_t*,
                                    double*, double*);
template void squared_error(cudaStream_t, Index, Index, const float*, const std::int32_t*, float*);
template void squared_error(cudaStream_t, Index, Index, const double*, const std::int32_t*,
                            double*);

}  // namespace stagewise::shared_memory

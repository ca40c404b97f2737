/// @file
/// The losses: forward, one thread per row, since a row has one loss; backward, one per element.
///
/// The rows of a batch are independent, so a batch of 100 occupies 100 threads. accumulate() adds
/// up a whole batch in one thread, in the order of the rows: slow, but with the same bits in every
/// run. Atomic additions would be faster, but in a different order every time.

#include "02_naive_cuda/kernels.hpp"
#include "cuda/launch.cuh"
#include "network/problems.hpp"

namespace stagewise::naive_cuda {
namespace {

using cuda::grid_for;
using cuda::index_x;
using cuda::threads_per_block;

//! [softmax_cross_entropy]
template <typename T>
__global__ void softmax_cross_entropy_kernel(Index rows, Index cols, const T* __restrict__ logits,
                                             const std::int32_t* __restrict__ labels,
                                             T* __restrict__ probabilities,
                                             T* __restrict__ row_losses) {
  const Index i = index_x();
  if (i >= rows) return;
  const T* const z = logits + i * cols;
  T* const p = probabilities + i * cols;
  // exp overflows beyond 88 in float; shifting all logits by their maximum changes no probability.
  T largest = z[0];
  for (Index j = 1; j < cols; ++j) {
    if (z[j] > largest) largest = z[j];
  }
  T sum = 0;
  for (Index j = 0; j < cols; ++j) {
    p[j] = exp(z[j] - largest);
    sum += p[j];
  }
  for (Index j = 0; j < cols; ++j) p[j] /= sum;
  row_losses[i] = log(sum) - (z[labels[i]] - largest);
}

template <typename T>
__global__ void softmax_cross_entropy_backward_kernel(Index rows, Index cols, Index batch_rows,
                                                      const T* __restrict__ probabilities,
                                                      const std::int32_t* __restrict__ labels,
                                                      T* __restrict__ dlogits) {
  const Index k = index_x();
  if (k >= rows * cols) return;
  const T onehot = k % cols == labels[k / cols] ? T{1} : T{0};
  dlogits[k] = (probabilities[k] - onehot) / static_cast<T>(batch_rows);
}
//! [softmax_cross_entropy]

//! [squared_error]
template <typename T>
__global__ void squared_error_kernel(Index rows, Index cols, const T* __restrict__ outputs,
                                     const std::int32_t* __restrict__ labels,
                                     T* __restrict__ row_losses) {
  const Index i = index_x();
  if (i >= rows) return;
  T loss = 0;
  for (Index j = 0; j < cols; ++j) {
    const T difference = target<T>(cols, j, labels[i]) - outputs[i * cols + j];
    loss += difference * difference;
  }
  row_losses[i] = loss;
}

template <typename T>
__global__ void squared_error_backward_kernel(Index rows, Index cols, Index batch_rows,
                                              const T* __restrict__ outputs,
                                              const std::int32_t* __restrict__ labels,
                                              T* __restrict__ doutputs) {
  const Index k = index_x();
  if (k >= rows * cols) return;
  const T difference = outputs[k] - target<T>(cols, k % cols, labels[k / cols]);
  doutputs[k] = 2 * difference / static_cast<T>(batch_rows);
}
//! [squared_error]

//! [accumulate]
template <typename T>
__global__ void accumulate_kernel(Index rows, std::int64_t step, const T* __restrict__ row_losses,
                                  const std::int32_t* __restrict__ predictions,
                                  const std::int32_t* __restrict__ labels, Totals* totals) {
  double loss = 0;
  std::int64_t correct = 0;
  for (Index i = 0; i < rows; ++i) {
    loss += static_cast<double>(row_losses[i]);
    correct += predictions[i] == labels[i] ? 1 : 0;
  }
  if (!isfinite(loss) && totals->first_bad_step < 0) totals->first_bad_step = step;
  totals->loss += loss;
  totals->correct += correct;
}
//! [accumulate]

}  // namespace

template <typename T>
void softmax_cross_entropy(cudaStream_t stream, Index rows, Index cols, const T* logits,
                           const std::int32_t* labels, T* probabilities, T* row_losses) {
  softmax_cross_entropy_kernel<<<grid_for(rows), threads_per_block, 0, stream>>>(
      rows, cols, logits, labels, probabilities, row_losses);
  CUDA_CHECK_LAUNCH("softmax_cross_entropy");
}

template <typename T>
void softmax_cross_entropy_backward(cudaStream_t stream, Index rows, Index cols, Index batch_rows,
                                    const T* probabilities, const std::int32_t* labels,
                                    T* dlogits) {
  softmax_cross_entropy_backward_kernel<<<grid_for(rows * cols), threads_per_block, 0, stream>>>(
      rows, cols, batch_rows, probabilities, labels, dlogits);
  CUDA_CHECK_LAUNCH("softmax_cross_entropy_backward");
}

template <typename T>
void squared_error(cudaStream_t stream, Index rows, Index cols, const T* outputs,
                   const std::int32_t* labels, T* row_losses) {
  squared_error_kernel<<<grid_for(rows), threads_per_block, 0, stream>>>(rows, cols, outputs,
                                                                         labels, row_losses);
  CUDA_CHECK_LAUNCH("squared_error");
}

template <typename T>
void squared_error_backward(cudaStream_t stream, Index rows, Index cols, Index batch_rows,
                            const T* outputs, const std::int32_t* labels, T* doutputs) {
  squared_error_backward_kernel<<<grid_for(rows * cols), threads_per_block, 0, stream>>>(
      rows, cols, batch_rows, outputs, labels, doutputs);
  CUDA_CHECK_LAUNCH("squared_error_backward");
}

template <typename T>
void accumulate(cudaStream_t stream, Index rows, std::int64_t step, const T* row_losses,
                const std::int32_t* predictions, const std::int32_t* labels, Totals* totals) {
  accumulate_kernel<<<1, 1, 0, stream>>>(rows, step, row_losses, predictions, labels, totals);
  CUDA_CHECK_LAUNCH("accumulate");
}

template void softmax_cross_entropy(cudaStream_t, Index, Index, const float*, const std::int32_t*,
                                    float*, float*);
template void softmax_cross_entropy(cudaStream_t, Index, Index, const double*, const std::int32_t*,
                                    double*, double*);
template void softmax_cross_entropy_backward(cudaStream_t, Index, Index, Index, const float*,
                                             const std::int32_t*, float*);
template void softmax_cross_entropy_backward(cudaStream_t, Index, Index, Index, const double*,
                                             const std::int32_t*, double*);
template void squared_error(cudaStream_t, Index, Index, const float*, const std::int32_t*, float*);
template void squared_error(cudaStream_t, Index, Index, const double*, const std::int32_t*,
                            double*);
template void squared_error_backward(cudaStream_t, Index, Index, Index, const float*,
                                     const std::int32_t*, float*);
template void squared_error_backward(cudaStream_t, Index, Index, Index, const double*,
                                     const std::int32_t*, double*);
template void accumulate(cudaStream_t, Index, std::int64_t, const float*, const std::int32_t*,
                         const std::int32_t*, Totals*);
template void accumulate(cudaStream_t, Index, std::int64_t, const double*, const std::int32_t*,
                         const std::int32_t*, Totals*);

}  // namespace stagewise::naive_cuda

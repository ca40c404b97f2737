/// @file
/// Average pooling: one thread per output in the forward pass, one per input in the backward pass.
/// Each value is read once and little is computed: the kernels are memory-bound.

#include "02_naive_cuda/element.cuh"
#include "02_naive_cuda/kernels.hpp"
#include "cuda/check.hpp"

namespace stagewise::naive_cuda {
namespace {

//! [average_pool]
template <typename T>
__global__ void average_pool_kernel(PoolingProblem p, Index n, const T* __restrict__ input,
                                    T* __restrict__ output) {
  const Index number = cuda::index_x();
  if (number >= n) return;
  const auto [b, y, x, c] = element_of(number, p.height / p.window, p.width / p.window, p.channels);

  const T share = T{1} / static_cast<T>(p.window * p.window);
  T sum = 0;
  for (Index i = 0; i < p.window; ++i) {
    for (Index j = 0; j < p.window; ++j) {
      const Index pixel = (b * p.height + y * p.window + i) * p.width + x * p.window + j;
      sum += share * input[pixel * p.channels + c];
    }
  }
  output[number] = sum;
}

template <typename T>
__global__ void average_pool_backward_kernel(PoolingProblem p, const T* __restrict__ doutput,
                                             T* __restrict__ dinput) {
  const Index number = cuda::index_x();
  if (number >= p.batch * p.height * p.width * p.channels) return;
  const auto [b, y, x, c] = element_of(number, p.height, p.width, p.channels);
  const Index window =
      (b * (p.height / p.window) + y / p.window) * (p.width / p.window) + x / p.window;
  const T share = T{1} / static_cast<T>(p.window * p.window);
  dinput[number] = share * doutput[window * p.channels + c];
}
//! [average_pool]

}  // namespace

template <typename T>
void average_pool(cudaStream_t stream, const PoolingProblem& p, const T* input, T* output) {
  const Index n = p.output_elements();
  average_pool_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(p, n, input,
                                                                                 output);
  CUDA_CHECK_LAUNCH("average_pool");
}

template <typename T>
void average_pool_backward(cudaStream_t stream, const PoolingProblem& p, const T* doutput,
                           T* dinput) {
  const Index n = p.batch * p.height * p.width * p.channels;
  average_pool_backward_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(
      p, doutput, dinput);
  CUDA_CHECK_LAUNCH("average_pool_backward");
}

template void average_pool(cudaStream_t, const PoolingProblem&, const float*, float*);
template void average_pool(cudaStream_t, const PoolingProblem&, const double*, double*);
template void average_pool_backward(cudaStream_t, const PoolingProblem&, const float*, float*);
template void average_pool_backward(cudaStream_t, const PoolingProblem&, const double*, double*);

}  // namespace stagewise::naive_cuda

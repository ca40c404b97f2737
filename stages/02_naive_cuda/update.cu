/// @file
/// Stochastic gradient descent: one thread per parameter. With three memory accesses for four
/// operations, it is memory-bound.

#include "02_naive_cuda/update.hpp"
#include "cuda/check.hpp"
#include "cuda/launch.cuh"

namespace stagewise::naive_cuda {
namespace {

//! [sgd_update]
template <typename T>
__global__ void sgd_update_kernel(Index n, T learning_rate, T l2, const T* __restrict__ gradient,
                                  T* __restrict__ parameter) {
  const Index i = cuda::index_x();
  if (i < n) parameter[i] -= learning_rate * (gradient[i] + l2 * parameter[i]);
}
//! [sgd_update]

}  // namespace

template <typename T>
void sgd_update(cudaStream_t stream, Index n, T learning_rate, T l2, const T* gradient,
                T* parameter) {
  if (n == 0) return;
  sgd_update_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(n, learning_rate, l2,
                                                                               gradient, parameter);
  CUDA_CHECK_LAUNCH("sgd_update");
}

template void sgd_update(cudaStream_t, Index, float, float, const float*, float*);
template void sgd_update(cudaStream_t, Index, double, double, const double*, double*);

}  // namespace stagewise::naive_cuda

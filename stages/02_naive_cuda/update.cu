/// @file
/// Stochastic gradient descent and its variants: one thread per parameter. With three memory
/// accesses for four operations, it is memory-bound; so are momentum, with five for six, and Adam,
/// with seven for fifteen. All threads read the same rates.

#include <cmath>

#include "02_naive_cuda/kernels.hpp"
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

template <typename T>
__global__ void momentum_update_kernel(Index n, T momentum, T l2, const T* __restrict__ gradient,
                                       const StepRates* __restrict__ rates,
                                       T* __restrict__ velocity, T* __restrict__ parameter) {
  const Index i = cuda::index_x();
  if (i >= n) return;
  T direction = gradient[i] + l2 * parameter[i];
  if (velocity != nullptr) direction = velocity[i] = momentum * velocity[i] + direction;
  parameter[i] -= static_cast<T>(rates->rate) * direction;
}

template <typename T>
__global__ void adam_update_kernel(Index n, AdamNumbers<T> a, const T* __restrict__ gradient,
                                   const StepRates* __restrict__ rates, T* __restrict__ m,
                                   T* __restrict__ v, T* __restrict__ parameter) {
  const Index i = cuda::index_x();
  if (i >= n) return;
  const T g = gradient[i] + a.l2 * parameter[i];
  m[i] += a.new_in_first * (g - m[i]);
  v[i] = a.beta2 * v[i] + a.new_in_second * g * g;
  parameter[i] -= static_cast<T>(rates->rate) * m[i] /
                  (std::sqrt(v[i]) / static_cast<T>(rates->correction) + a.epsilon);
}

}  // namespace

template <typename T>
void sgd_update(cudaStream_t stream, Index n, T learning_rate, T l2, const T* gradient,
                T* parameter) {
  sgd_update_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(n, learning_rate, l2,
                                                                               gradient, parameter);
  CUDA_CHECK_LAUNCH("sgd_update");
}

template <typename T>
void momentum_update(cudaStream_t stream, Index n, T momentum, T l2, const T* gradient,
                     const StepRates* rates, T* velocity, T* parameter) {
  momentum_update_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(
      n, momentum, l2, gradient, rates, velocity, parameter);
  CUDA_CHECK_LAUNCH("momentum_update");
}

template <typename T>
void adam_update(cudaStream_t stream, Index n, const AdamNumbers<T>& a, const T* gradient,
                 const StepRates* rates, T* m, T* v, T* parameter) {
  adam_update_kernel<<<cuda::grid_for(n), cuda::threads_per_block, 0, stream>>>(
      n, a, gradient, rates, m, v, parameter);
  CUDA_CHECK_LAUNCH("adam_update");
}

template void sgd_update(cudaStream_t, Index, float, float, const float*, float*);
template void sgd_update(cudaStream_t, Index, double, double, const double*, double*);
template void momentum_update(cudaStream_t, Index, float, float, const float*, const StepRates*,
                              float*, float*);
template void momentum_update(cudaStream_t, Index, double, double, const double*, const StepRates*,
                              double*, double*);
template void adam_update(cudaStream_t, Index, const AdamNumbers<float>&, const float*,
                          const StepRates*, float*, float*, float*);
template void adam_update(cudaStream_t, Index, const AdamNumbers<double>&, const double*,
                          const StepRates*, double*, double*, double*);

}  // namespace stagewise::naive_cuda

/// @file
/// Elementwise operations: the loop of stage 01 disappears, and its body becomes the kernel.
///
/// Every thread computes one element, so there is nothing to share and nothing to wait for.
/// Neighbouring threads read and write neighbouring elements, so the GPU combines their accesses
/// ("coalescing"). With one multiplication or comparison per element, the kernels are memory-bound:
/// they move two or three values per element.

#include "02_naive_cuda/kernels.hpp"
#include "cuda/launch.cuh"

namespace stagewise::naive_cuda {
namespace {

using cuda::grid_for;
using cuda::index_x;
using cuda::threads_per_block;

template <typename T>
__global__ void add_kernel(Index n, const T* x, const T* y, T* z) {
  const Index i = index_x();
  if (i < n) z[i] = x[i] + y[i];
}

template <typename T>
__global__ void divide_kernel(Index n, T divisor, T* x) {
  const Index i = index_x();
  if (i < n) x[i] /= divisor;
}

//! [add_bias]
template <typename T>
__global__ void add_bias_kernel(Index n, Index cols, const T* x, const T* bias, T* y) {
  const Index i = index_x();
  if (i < n) y[i] = x[i] + bias[i % cols];
}
//! [add_bias]

/// An activation, and the way back through it; there is none for what this stage does not compute.
template <Activation activation>
struct Function;

//! [relu]
template <>
struct Function<Activation::relu> {
  template <typename T>
  static __device__ T of(T x) {
    return x < 0 ? T{0} : x;  // a NaN is not < 0 and stays
  }
  template <typename T>
  static __device__ T back(T y, T dy) {
    return y > 0 ? dy : T{0};
  }
};
//! [relu]

//! [sigmoid]
template <>
struct Function<Activation::sigmoid> {
  template <typename T>
  static __device__ T of(T x) {
    return 1 / (1 + exp(-x));
  }
  template <typename T>
  static __device__ T back(T y, T dy) {
    return dy * y * (1 - y);
  }
};
//! [sigmoid]

//! [activate]
template <typename F, typename T>
__global__ void activate_kernel(Index n, const T* x, T* y) {
  const Index i = index_x();
  if (i < n) y[i] = F::of(x[i]);
}

template <typename F, typename T>
__global__ void activate_backward_kernel(Index n, const T* y, const T* dy, T* dx) {
  const Index i = index_x();
  if (i < n) dx[i] = F::back(y[i], dy[i]);
}
//! [activate]

/// Calls work.operator()<Function>() for an activation that this stage computes.
template <typename Work>
void with_function(Activation activation, const Work& work) {
  with_activation(activation, [&]<Activation a>() {
    if constexpr (requires { Function<a>(); }) work.template operator()<Function<a>>();
  });
}

}  // namespace

template <typename T>
void add(cudaStream_t stream, Index n, const T* x, const T* y, T* z) {
  add_kernel<<<grid_for(n), threads_per_block, 0, stream>>>(n, x, y, z);
  CUDA_CHECK_LAUNCH("add");
}

template <typename T>
void divide(cudaStream_t stream, Index n, T divisor, T* x) {
  divide_kernel<<<grid_for(n), threads_per_block, 0, stream>>>(n, divisor, x);
  CUDA_CHECK_LAUNCH("divide");
}

//! [add_bias_launch]
template <typename T>
void add_bias(cudaStream_t stream, Index rows, Index cols, const T* x, const T* bias, T* y) {
  const Index n = rows * cols;
  add_bias_kernel<<<grid_for(n), threads_per_block, 0, stream>>>(n, cols, x, bias, y);
  CUDA_CHECK_LAUNCH("add_bias");
}
//! [add_bias_launch]

bool computes(Activation activation) {
  bool found = false;
  with_function(activation, [&]<typename F>() { found = true; });
  return found;
}

//! [launch]
template <typename T>
void activate(cudaStream_t stream, Activation activation, Index n, const T* x, T* y) {
  with_function(activation, [&]<typename F>() {
    activate_kernel<F><<<grid_for(n), threads_per_block, 0, stream>>>(n, x, y);
  });
  CUDA_CHECK_LAUNCH(names_of(activation).name);
}
//! [launch]

template <typename T>
void activate_backward(cudaStream_t stream, Activation activation, Index n, const T* y, const T* dy,
                       T* dx) {
  with_function(activation, [&]<typename F>() {
    activate_backward_kernel<F><<<grid_for(n), threads_per_block, 0, stream>>>(n, y, dy, dx);
  });
  CUDA_CHECK_LAUNCH(names_of(activation).backward);
}

template void add(cudaStream_t, Index, const float*, const float*, float*);
template void add(cudaStream_t, Index, const double*, const double*, double*);
template void divide(cudaStream_t, Index, float, float*);
template void divide(cudaStream_t, Index, double, double*);
template void add_bias(cudaStream_t, Index, Index, const float*, const float*, float*);
template void add_bias(cudaStream_t, Index, Index, const double*, const double*, double*);
template void activate(cudaStream_t, Activation, Index, const float*, float*);
template void activate(cudaStream_t, Activation, Index, const double*, double*);
template void activate_backward(cudaStream_t, Activation, Index, const float*, const float*,
                                float*);
template void activate_backward(cudaStream_t, Activation, Index, const double*, const double*,
                                double*);

}  // namespace stagewise::naive_cuda

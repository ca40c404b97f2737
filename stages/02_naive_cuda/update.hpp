/// @file
/// Stochastic gradient descent and its variants, one thread per parameter.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::naive_cuda {

/// parameter -= learning_rate (gradient + l2 parameter), elementwise.
template <typename T>
void sgd_update(cudaStream_t stream, Index n, T learning_rate, T l2, const T* gradient,
                T* parameter);

/// velocity = momentum velocity + (gradient + l2 parameter); parameter -= rate velocity.
/// @param rates in device memory.
/// @param velocity null: as if momentum were 0.
template <typename T>
void momentum_update(cudaStream_t stream, Index n, T momentum, T l2, const T* gradient,
                     const StepRates* rates, T* velocity, T* parameter);

/// The update of Adam; see AdamUpdate.
/// @param rates in device memory.
/// @param m, v the moving averages of the gradient and of its square.
template <typename T>
void adam_update(cudaStream_t stream, Index n, const AdamNumbers<T>& a, const T* gradient,
                 const StepRates* rates, T* m, T* v, T* parameter);

}  // namespace stagewise::naive_cuda

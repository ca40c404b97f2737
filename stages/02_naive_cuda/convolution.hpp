/// @file
/// 'Valid' convolution of stride 1 and its gradients. See ConvolutionProblem for the shapes.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::naive_cuda {

/// output[b, y, x, o] = sum over i, j, c of input[b, y + i, x + j, c] filter[i, j, c, o].
template <typename T>
void convolution(cudaStream_t stream, const ConvolutionProblem& problem, const T* input,
                 const T* filter, T* output);

/// The gradients of convolution() with respect to its input and its filter.
/// @param dinput null if it is not needed.
template <typename T>
void convolution_backward(cudaStream_t stream, const ConvolutionProblem& problem, const T* input,
                          const T* filter, const T* doutput, T* dinput, T* dfilter);

}  // namespace stagewise::naive_cuda

/// @file
/// The products of a convolution with factors rounded to TF32, as far as channels are copied in
/// vectors. All take a GPU of compute capability 8.0 or higher.
#pragma once

#include <cuda_runtime.h>

#include "cuda/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::ladder {

/// As minibatch::convolution_relu_pool().
void convolution_relu_pool_in_tf32(cudaStream_t stream, const ConvolutionReluPoolProblem<float>& layer,
                                   Workspace& workspace);

/// As shared_memory::filter_gradient().
void filter_gradient_in_tf32(cudaStream_t stream, const ConvolutionProblem& convolution, const float* input,
                             const float* doutput, float* dfilter, Workspace& workspace);

/// As shared_memory::input_gradient().
void input_gradient_in_tf32(cudaStream_t stream, const ConvolutionProblem& convolution, const float* filter,
                            const float* doutput, float* dinput, Workspace& workspace);

}  // namespace stagewise::ladder

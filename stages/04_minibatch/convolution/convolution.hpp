/// @file
/// A convolution fused with everything that follows it up to the next layer, and the way back to
/// its output. See ConvolutionProblem and ConvolutionReluPoolProblem for the shapes.
#pragma once

#include <cuda_runtime.h>

#include "cuda/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// Whether the kernels below can compute a convolution with its pooling: as
/// shared_memory::fits_windows(), and the windows of the pooling must have 2 x 2 pixels.
/// @param window of the pooling.
bool can_fuse_pooling(const ConvolutionProblem& convolution, Index window);

/// output = average_pool(relu(convolution(input, filter) + bias)) in one kernel. If
/// `layer.activated` is null, the relu's output is not stored.
/// @pre can_fuse_pooling() for the layer.
template <typename T>
void convolution_relu_pool(cudaStream_t stream, const ConvolutionReluPoolProblem<T>& layer,
                           Workspace& workspace);

/// The gradients of the pooling, the relu and the bias in one kernel. Those of the convolution
/// follow from dsum.
/// @param activated the output of the relu.
/// @param doutput the gradient of the pooled output.
/// @param dsum receives the gradient of the relu's input.
/// @param dbias [channels]; null: no bias.
/// @pre can_fuse_pooling() for the layer.
template <typename T>
void pool_relu_backward(cudaStream_t stream, const PoolingProblem& pooling, const T* activated,
                        const T* doutput, T* dsum, T* dbias, Workspace& workspace);

}  // namespace stagewise::minibatch

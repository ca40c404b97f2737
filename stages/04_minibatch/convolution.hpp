/// @file
/// A convolution fused with everything that follows it up to the next layer, and its gradients. See
/// ConvolutionProblem and ConvolutionReluPoolProblem for the shapes.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "03_shared_memory/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// How the factors of a product are multiplied.
enum class Math : std::uint8_t {
  own,  ///< as they are
  tf32  ///< floats rounded to TF32, by tensor cores: see gemm/16_tf32.cu of stage 03
};

/// Whether the kernels below can compute this convolution, with this batch and every smaller one:
/// no size may be 0, and the elements of all operands must be countable in ints.
bool fits_windows(const ConvolutionProblem& convolution);

/// Whether they can compute it with its pooling, whose windows must have 2 x 2 pixels.
/// @param window of the pooling.
bool can_fuse_pooling(const ConvolutionProblem& convolution, Index window);

/// output = average_pool(relu(convolution(input, filter) + bias)) in one kernel. If
/// `layer.activated` is null, the relu's output is not stored.
/// @pre can_fuse_pooling() for the layer.
template <typename T>
void convolution_relu_pool(cudaStream_t stream, const ConvolutionReluPoolProblem<T>& layer,
                           shared_memory::Workspace& workspace, Math math = Math::own);

/// The gradients of the pooling, the relu and the bias in one kernel. Those of the convolution
/// follow from dsum.
/// @param activated the output of the relu.
/// @param doutput the gradient of the pooled output.
/// @param dsum receives the gradient of the relu's input.
/// @param dbias [channels]; null: no bias.
/// @pre can_fuse_pooling() for the layer.
template <typename T>
void pool_relu_backward(cudaStream_t stream, const PoolingProblem& pooling, const T* activated,
                        const T* doutput, T* dsum, T* dbias, shared_memory::Workspace& workspace);

/// dfilter = windows^T doutput.
/// @pre fits_windows().
template <typename T>
void filter_gradient(cudaStream_t stream, const ConvolutionProblem& convolution, const T* input,
                     const T* doutput, T* dfilter, shared_memory::Workspace& workspace,
                     Math math = Math::own);

/// The gradient of the input: of each value, the sum over all windows in which it is.
/// @pre fits_windows().
template <typename T>
void input_gradient(cudaStream_t stream, const ConvolutionProblem& convolution, const T* filter,
                    const T* doutput, T* dinput, Math math = Math::own);

}  // namespace stagewise::minibatch

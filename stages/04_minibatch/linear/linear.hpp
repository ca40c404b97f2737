/// @file
/// A fully connected layer as one kernel forward and two backward.
#pragma once

#include <cuda_runtime.h>

#include "04_minibatch/output_layer/output_layer.hpp"
#include "cuda/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// Whether the kernels below compute an activation, and the way back through it.
bool computes(Activation activation);

/// Whether these sizes fit into ints, as the functions below require. No size may be 0.
bool fits_linear(Index rows, Index in, Index out);

/// output = activation(input weight + bias), for selected rows of the input if requested.
/// @param input_is_independent whether input and order do not depend on the kernel before.
template <typename T>
void linear(cudaStream_t stream, const LinearProblem<T>& layer, Workspace& workspace,
            bool input_is_independent = false);

/// The gradient of the input, multiplied by the derivative of `input_activation`. Reads the
/// weights.
/// @pre forward.activation is none: doutput already includes its derivative.
template <typename T>
void input_gradient(cudaStream_t stream, const LinearBackwardProblem<T>& layer,
                    Workspace& workspace);

/// The gradients of weights and bias, and the updates that their targets request.
/// @param one in device memory: 1, then zeros, at least 16 bytes in all.
/// @param input_is_independent whether input and order do not depend on the kernel before.
/// @param last shares of a last layer, to be added up besides.
/// @pre as for input_gradient(); the gradient of the weights is requested.
template <typename T>
void parameter_gradients(cudaStream_t stream, const LinearBackwardProblem<T>& layer, const T* one,
                         Workspace& workspace, bool input_is_independent = false,
                         const SharesProblem<T>& last = {});

}  // namespace stagewise::minibatch

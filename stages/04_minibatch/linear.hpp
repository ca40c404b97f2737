/// @file
/// A fully connected layer as one kernel forward and two backward.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/workspace.hpp"
#include "backend/problems.hpp"

namespace stagewise::minibatch {

/// Whether linear() and linear_backward() can count these sizes in ints.
bool fits_linear(Index rows, Index in, Index out);

/// output = activation(input weight + bias), with the input's rows selected if asked for.
/// @pre fits_linear(), no size is 0.
template <typename T>
void linear(cudaStream_t stream, const LinearProblem<T>& layer,
            shared_memory::Workspace& workspace);

/// The gradients of linear(), and the updates that the sinks ask for. The gradient of the input is
/// taken through `input_activation`.
/// @param one in the device's memory: 1, then zeros, 16 bytes in all.
/// @pre as for linear(); forward.activation is none: the layer above has taken the gradient through
///      it.
template <typename T>
void linear_backward(cudaStream_t stream, const LinearBackwardProblem<T>& layer, const T* one,
                     shared_memory::Workspace& workspace);

/// The part of linear_backward() that gives the gradients of weights and bias.
template <typename T>
void parameter_gradients(cudaStream_t stream, const LinearBackwardProblem<T>& layer, const T* one,
                         shared_memory::Workspace& workspace);

}  // namespace stagewise::minibatch

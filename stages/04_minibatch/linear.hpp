/// @file
/// A fully connected layer as one kernel forward and two backward.
#pragma once

#include <cuda_runtime.h>

#include "03_shared_memory/workspace.hpp"
#include "network/problems.hpp"

namespace stagewise::minibatch {

/// Whether the functions below can count these sizes in ints. No size may be 0.
bool fits_linear(Index rows, Index in, Index out);

/// output = activation(input weight + bias), with the input's rows selected if asked for.
template <typename T>
void linear(cudaStream_t stream, const LinearProblem<T>& layer,
            shared_memory::Workspace& workspace);

/// The gradient of the input, taken through `input_activation`. Reads the weights.
/// @pre forward.activation is none: doutput has been taken through it.
template <typename T>
void input_gradient(cudaStream_t stream, const LinearBackwardProblem<T>& layer,
                    shared_memory::Workspace& workspace);

/// The gradients of weights and bias, and the updates that their targets ask for.
/// @param one in the device's memory: 1, then zeros, 16 bytes in all.
/// @pre as for input_gradient(); the gradient of the weights is wanted.
template <typename T>
void parameter_gradients(cudaStream_t stream, const LinearBackwardProblem<T>& layer, const T* one,
                         shared_memory::Workspace& workspace);

}  // namespace stagewise::minibatch

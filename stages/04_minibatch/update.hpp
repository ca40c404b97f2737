/// @file
/// What workers exchange: the sum of their gradients, or the mean of their parameters.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::minibatch {

/// One parameter of the network, which receives the mean. In device memory, in an array.
template <typename T>
struct MeanParameter {
  T* value = nullptr;
  Index elements = 0;
  Index first_block = 0;  ///< the first of the blocks that work on it
  T l2 = 0;
};

/// The parameters of all workers, or their gradients: pointers into device memory.
template <typename T>
struct WorkersParameters {
  int workers = 0;
  int parameters = 0;
  Index blocks = 0;                        ///< blocks_for() of all parameters together
  const MeanParameter<T>* mean = nullptr;  ///< [parameters]
  T* const* parts = nullptr;               ///< [parameters, workers]: their parameters or gradients
};

/// How many blocks work on a parameter of this many elements.
Index blocks_for(Index elements);

/// Updates the parameters with the sum of the workers' gradients, worker 0's first.
template <typename T>
void update_by_sum(cudaStream_t stream, const WorkersParameters<T>& p, T learning_rate);

/// Sets the parameters to the mean of the workers', all with the same weight.
/// @param workers_too whether the workers also receive the mean.
template <typename T>
void average_weights(cudaStream_t stream, const WorkersParameters<T>& p, bool workers_too);

}  // namespace stagewise::minibatch

/// @file
/// What workers exchange: the sum of their gradients, or the mean of their parameters.
#pragma once

#include <cuda_runtime.h>

#include "network/problems.hpp"

namespace stagewise::minibatch {

/// One parameter of the network that receives the mean. In the device's memory, in an array.
template <typename T>
struct MeanParameter {
  T* value = nullptr;
  Index elements = 0;
  Index first_block = 0;  ///< of the blocks that work on it
  T l2 = 0;
};

/// What one worker has of it.
template <typename T>
struct WorkersPart {
  T* value = nullptr;
  const T* gradient = nullptr;
};

/// All parameters of all workers: pointers into the device's memory.
template <typename T>
struct WorkersParameters {
  int workers = 0;
  int parameters = 0;
  Index blocks = 0;                        ///< blocks_for() of all parameters together
  const MeanParameter<T>* mean = nullptr;  ///< [parameters]
  const WorkersPart<T>* parts = nullptr;   ///< [parameters, workers]
};

/// How many blocks work on a parameter of so many elements.
Index blocks_for(Index elements);

/// Updates the parameters by the sum of the workers' gradients, worker 0's first.
template <typename T>
void update_by_sum(cudaStream_t stream, const WorkersParameters<T>& p, T learning_rate);

/// Sets the parameters to the mean of the workers'; each counts as much as the others.
/// @param workers_too whether the workers get it, too.
template <typename T>
void average_weights(cudaStream_t stream, const WorkersParameters<T>& p, bool workers_too);

}  // namespace stagewise::minibatch

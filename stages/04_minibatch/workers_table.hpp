/// @file
/// The tables in which the kernels of update.hpp find all workers' parameters.
#pragma once

#include <vector>

#include "04_minibatch/update.hpp"
#include "tensor/tensor.hpp"
#include "training/executor.hpp"

namespace stagewise::minibatch {

/// Owns the lists of WorkersParameters, in the device's memory.
template <typename T>
class WorkersTable {
 public:
  /// @param executor in whose memory the lists are.
  /// @param means the parameters; which blocks work on each is found out here.
  /// @param parts [parameters, workers].
  /// @throws Error if the GPU has too little memory.
  WorkersTable(Executor<T>& executor, std::vector<MeanParameter<T>> means,
               const std::vector<WorkersPart<T>>& parts);

  /// Valid as long as the table.
  const WorkersParameters<T>& parameters() const { return parameters_; }

 private:
  Tensor<MeanParameter<T>> means_;
  Tensor<WorkersPart<T>> parts_;
  WorkersParameters<T> parameters_;
};

}  // namespace stagewise::minibatch

/// @file
/// The tables from which the kernels of update.hpp read where all workers' parameters are.
#pragma once

#include <vector>

#include "04_minibatch/update.hpp"
#include "tensor/tensor.hpp"
#include "training/executor.hpp"

namespace stagewise::minibatch {

/// Owns the lists of WorkersParameters, in device memory.
template <typename T>
class WorkersTable {
 public:
  /// @param executor the lists are in its memory.
  /// @param means the parameters; the blocks that work on each are determined here.
  /// @param parts [parameters, workers].
  /// @throws Error if the GPU has too little memory.
  WorkersTable(Executor<T>& executor, std::vector<MeanParameter<T>> means,
               const std::vector<WorkersPart<T>>& parts);

  /// Valid for the lifetime of the table.
  const WorkersParameters<T>& parameters() const { return parameters_; }

 private:
  Tensor<MeanParameter<T>> means_;
  Tensor<WorkersPart<T>> parts_;
  WorkersParameters<T> parameters_;
};

}  // namespace stagewise::minibatch

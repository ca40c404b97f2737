/// @file
/// What a step tells about its gradients where other processes have a part of the batch, too.
#pragma once

#include "graph/graph.hpp"

namespace stagewise {

/// Adds a step's gradients up with those that other processes have computed from their parts of the
/// batch, and updates the parameters by the sum. Stage 05 brings one.
///
/// Each process computes the gradient of its part of the batch's loss: of the sum over its own
/// rows, divided by the rows of the whole batch. The sum over the processes is then the gradient of
/// the mean, however unequal the parts are.
template <typename T>
class GradientExchange {
 public:
  GradientExchange() = default;
  virtual ~GradientExchange() = default;
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  /// Rows of the whole batch that the next step is a part of.
  virtual Index batch_rows() const = 0;

  /// What is in the backend's stream by now completes this parameter's gradient; nothing of the
  /// step that comes later reads the parameter or writes the gradient.
  virtual void complete(Parameter<T>& parameter) = 0;

  /// After all have been named: what comes next in the stream finds the parameters updated.
  virtual void finish() = 0;
};

}  // namespace stagewise

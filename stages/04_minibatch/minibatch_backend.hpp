/// @file
/// Stage 04's backend: stage 03's, with composites that are one kernel each.
#pragma once

#include "03_shared_memory/shared_memory_backend.hpp"
#include "04_minibatch/loss.hpp"

namespace stagewise {

/// Overrides the composites with fused kernels, and inherits the primitives.
template <typename T>
class MinibatchBackend : public SharedMemoryBackend<T> {
 public:
  /// @param fuses whether it does; else it is stage 03's backend, to see what fusing buys.
  /// @throws Error if no GPU can be used.
  explicit MinibatchBackend(bool fuses = true);

  void linear(const LinearProblem<T>& layer) override;
  void linear_backward(const LinearBackwardProblem<T>& layer) override;
  bool fuses_activation_backward() const override { return fuses_; }
  bool selects_rows() const override { return fuses_; }

  /// The end of a training network: see minibatch::loss().
  void loss(const minibatch::LossProblem<T>& problem);

 private:
  bool fuses_;
  Tensor<T> one_;  ///< 1, 0, 0, 0: 16 bytes
};

extern template class MinibatchBackend<float>;
extern template class MinibatchBackend<double>;

}  // namespace stagewise

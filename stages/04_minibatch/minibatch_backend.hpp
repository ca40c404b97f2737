/// @file
/// Stage 04's backend: stage 03's, with composites that are one kernel each.
#pragma once

#include "03_shared_memory/shared_memory_backend.hpp"

namespace stagewise {

/// Overrides the composites with fused kernels, and inherits the primitives.
template <typename T>
class MinibatchBackend : public SharedMemoryBackend<T> {
 public:
  /// @throws Error if no GPU can be used.
  MinibatchBackend() = default;

  void convolution_relu_pool(const ConvolutionReluPoolProblem<T>& layer) override;
  void convolution_relu_pool_backward(const ConvolutionReluPoolBackwardProblem<T>& layer) override;
  bool fuses_pooling(const ConvolutionReluPoolProblem<T>& layer) const override;
};

extern template class MinibatchBackend<float>;
extern template class MinibatchBackend<double>;

}  // namespace stagewise

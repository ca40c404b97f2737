/// @file
/// Stage 04's backend: stage 03's, with composites that are one kernel each.
#pragma once

#include "03_shared_memory/shared_memory_backend.hpp"
#include "04_minibatch/output_layer.hpp"

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

  void convolution_relu_pool(const ConvolutionReluPoolProblem<T>& layer) override;
  void convolution_relu_pool_backward(const ConvolutionReluPoolBackwardProblem<T>& layer) override;
  bool fuses_pooling(const ConvolutionReluPoolProblem<T>& layer) const override;

  /// The end of a training network: see minibatch::loss().
  /// @param totals to which the batch is added; its scores are set here.
  void loss(const minibatch::LossProblem<T>& problem, const minibatch::TotalsProblem& totals);

  /// Whether output_layer() does this: a last layer, what is behind it, and the way back.
  bool fuses_output_layer(const minibatch::OutputLayerProblem<T>& problem) const;

  /// See minibatch::output_layer(); the gradients of the layer's parameters, too.
  void output_layer(const minibatch::OutputLayerProblem<T>& problem,
                    const minibatch::TotalsProblem& totals);

  /// From here to join(), totals and gradients of parameters are computed beside everything else,
  /// where this is possible: nothing of the same step depends on them. In between, no parameter may
  /// be written by others, nor may a layer be computed twice.
  void fork() { is_forked_ = fuses_; }

  /// Lets what comes next wait for them.
  void join();

 private:
  /// Where to enqueue what may be computed beside the rest: it sees what was enqueued before.
  cudaStream_t stream_aside();
  void parameter_gradients(const LinearBackwardProblem<T>& layer);
  void add_to_totals(minibatch::TotalsProblem totals, Index scores);

  bool fuses_;
  Tensor<T> one_;  ///< 1, 0, 0, 0: 16 bytes
  Tensor<minibatch::Score> scores_;
  bool is_forked_ = false;
  bool has_work_aside_ = false;
  cuda::Stream aside_;
  cuda::Event ready_;  ///< in the main stream: what the gradients are computed from
  cuda::Event done_;   ///< aside
  shared_memory::Workspace workspace_aside_;
};

extern template class MinibatchBackend<float>;
extern template class MinibatchBackend<double>;

}  // namespace stagewise

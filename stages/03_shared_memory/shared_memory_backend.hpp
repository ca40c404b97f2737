/// @file
/// Stage 03's backend: stage 02's, with products, sums, transpositions, losses and convolutions
/// that share what they load.
#pragma once

#include <string>

#include "02_naive_cuda/naive_cuda_backend.hpp"
#include "03_shared_memory/convolution.hpp"
#include "03_shared_memory/fold_bias.hpp"
#include "03_shared_memory/gemm.hpp"
#include "03_shared_memory/reduce.hpp"

namespace stagewise {

/// Which forms a SharedMemoryBackend uses.
struct SharedMemoryOptions {
  std::string gemm = "auto";  ///< a rung of the GEMM ladder, or auto: pick one for each product
  std::string reduce = std::string(shared_memory::default_reduce_rung);

  /// With a rung in `gemm`, automatic means unrolled, so that this rung multiplies.
  shared_memory::ConvolutionForm convolution = shared_memory::ConvolutionForm::automatic;
  shared_memory::FoldBias fold_bias = shared_memory::FoldBias::off;
};

/// Overrides what stage 03 does better, and inherits the rest.
template <typename T>
class SharedMemoryBackend : public NaiveCudaBackend<T> {
 public:
  /// @throws Error if no GPU can be used, or not with the rung that was asked for. UsageError for
  ///         an unknown rung.
  explicit SharedMemoryBackend(const SharedMemoryOptions& options = {});

  void prepare(const LinearProblem<T>& largest, bool with_gradients) override;
  void prepare(const ConvolutionProblem& largest, bool with_gradients) override;

  void gemm(const GemmProblem<T>& problem) override;
  void transpose(Index rows, Index cols, const T* x, T* y) override;
  void sum(Index n, const T* x, T* out) override;
  void sum_rows(Index rows, Index cols, const T* x, T* out) override;

  void softmax_cross_entropy(Index rows, Index cols, const T* logits, const std::int32_t* labels,
                             T* probabilities, T* row_losses) override;
  void squared_error(Index rows, Index cols, const T* outputs, const std::int32_t* labels,
                     T* row_losses) override;
  void accumulate(Index rows, const T* row_losses, const std::int32_t* predictions,
                  const std::int32_t* labels, std::int64_t step, Totals* totals) override;

  void convolution(const ConvolutionProblem& problem, const T* input, const T* filter,
                   T* output) override;
  void convolution_backward(const ConvolutionProblem& problem, const T* input, const T* filter,
                            const T* doutput, T* dinput, T* dfilter) override;

  // With a folded bias, a layer is one product; else these are the defaults.
  void linear(const LinearProblem<T>& layer) override;
  void linear_backward(const LinearBackwardProblem<T>& layer) override;

 protected:
  /// For the kernels of this stage and the next; one stream's at a time.
  shared_memory::Workspace& workspace() { return workspace_; }

 private:
  shared_memory::UnrolledImages<T> unrolled_images(const ConvolutionProblem& problem);
  bool folds(const LinearProblem<T>& layer) const;

  const shared_memory::GemmRung<T>* gemm_ = nullptr;  ///< null: pick one for each product
  const shared_memory::Rung<shared_memory::SumProblem<T>>* sum_;
  const shared_memory::Rung<shared_memory::SumRowsProblem<T>>* sum_rows_;
  const shared_memory::Rung<shared_memory::AccumulateProblem<T>>* accumulate_;
  shared_memory::ConvolutionForm convolution_;
  shared_memory::FoldBias fold_bias_;
  shared_memory::Workspace workspace_;
  shared_memory::FoldedLayer<T> folded_;
  Tensor<T> unrolled_;
};

extern template class SharedMemoryBackend<float>;
extern template class SharedMemoryBackend<double>;

}  // namespace stagewise

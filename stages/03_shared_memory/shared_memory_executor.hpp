/// @file
/// Stage 03: stage 02, with products, sums, losses and convolutions that share what they load.
#pragma once

#include <string>

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "03_shared_memory/kernels.hpp"

namespace stagewise {

/// Which kernels a SharedMemoryExecutor uses.
struct SharedMemoryOptions {
  std::string gemm = "auto";  ///< a rung of the GEMM ladder, or auto: pick one for each product
  std::string reduce = std::string(shared_memory::default_reduce_rung);
  shared_memory::ConvolutionVariant convolution = shared_memory::ConvolutionVariant::automatic;
};

/// Executes what stage 03 does better by its own kernels; everything else falls through to stage
/// 02.
template <typename T>
class SharedMemoryExecutor : public NaiveCudaExecutor<T> {
 public:
  /// @param products the rungs that `options.gemm` may name.
  /// @throws Error if no GPU can be used, or not with the rung that was asked for. UsageError for
  ///         an unknown rung.
  explicit SharedMemoryExecutor(const SharedMemoryOptions& options = {},
                                Ladder<GemmProblem<T>> products = shared_memory::gemm_ladder<T>());

  //! [overrides]
  using NaiveCudaExecutor<T>::run;
  void run(const Gemm& op);
  void run(const ColumnSums& op);
  void run(const SoftmaxCrossEntropy& op) {
    this->launch(shared_memory::softmax_cross_entropy<T>, op);
  }
  void run(const SquaredError& op) { this->launch(shared_memory::squared_error<T>, op); }
  void run(const Accumulate& op);
  void run(const Convolution& op);
  void run(const ConvolutionBackward& op);
  //! [overrides]

 protected:
  /// The rung that was asked for; null: the one that suits each product.
  const shared_memory::GemmRung<T>* gemm_rung() const { return gemm_; }

  /// A product by this rung.
  void multiply(const GemmProblem<T>& problem);

  /// That of the current lane, for kernels that keep partial sums and counters.
  virtual Workspace& workspace() { return workspace_; }

  void run(const Line& line) override { run_in_range(*this, line); }

 private:
  const shared_memory::GemmRung<T>* gemm_ = nullptr;  ///< null: pick one for each product
  const Rung<shared_memory::ColumnSumsProblem<T>>* column_sums_;
  std::string reduce_;
  shared_memory::ConvolutionVariant convolution_;
  Workspace workspace_;
};

extern template class SharedMemoryExecutor<float>;
extern template class SharedMemoryExecutor<double>;

}  // namespace stagewise

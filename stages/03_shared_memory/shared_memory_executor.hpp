/// @file
/// Stage 03: stage 02, with products, sums, losses and convolutions that share what they load.
#pragma once

#include <string>

#include "02_naive_cuda/naive_cuda_executor.hpp"
#include "03_shared_memory/convolution.hpp"
#include "03_shared_memory/gemm.hpp"
#include "03_shared_memory/loss.hpp"
#include "03_shared_memory/reduce.hpp"

namespace stagewise {

/// Which kernels a SharedMemoryExecutor uses.
struct SharedMemoryOptions {
  std::string gemm = "auto";  ///< a rung of the GEMM ladder, or auto: pick one for each product
  std::string reduce = std::string(shared_memory::default_reduce_rung);

  /// With a rung in `gemm`, automatic means im2col, so that this rung multiplies.
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
  explicit SharedMemoryExecutor(
      const SharedMemoryOptions& options = {},
      shared_memory::Ladder<GemmProblem<T>> products = shared_memory::gemm_ladder<T>());

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
  void prepare(const Program& program) override;

  /// Whether a line with a convolution's gradients needs an im2col matrix.
  virtual bool needs_columns(const Line& /*line*/) const { return true; }

  /// A product by the rung that was asked for, or the one that suits it.
  void multiply(const GemmProblem<T>& problem);

  /// What the kernels of a lane need beside their operands.
  struct Scratch {
    shared_memory::Workspace workspace;
    Tensor<T> columns;  ///< an im2col matrix, for convolutions as products
  };

  /// Those of the current lane.
  virtual Scratch& scratch() { return scratch_; }

  /// Likewise, for kernels that keep partial sums and counters.
  shared_memory::Workspace& workspace() { return scratch().workspace; }

  shared_memory::Im2colImages<T> im2col_images(const ConvolutionProblem& problem);

  void run(const Line& line) override { run_in_range(*this, line); }

 private:
  const shared_memory::GemmRung<T>* gemm_ = nullptr;  ///< null: pick one for each product
  const shared_memory::Rung<shared_memory::ColumnSumsProblem<T>>* column_sums_;
  std::string reduce_;
  shared_memory::ConvolutionVariant convolution_;
  Scratch scratch_;
};

}  // namespace stagewise

/// @file
/// Stage 02: every operation as a kernel with one thread per output element.
#pragma once

#include "02_naive_cuda/gemm.hpp"
#include "cuda/handles.hpp"
#include "cuda/range.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// Executes each operation by a kernel of namespace naive_cuda, all in one stream: each begins when
/// the one before has ended. Everything lives in the GPU's memory.
template <typename T>
class NaiveCudaExecutor : public Executor<T> {
 public:
  /// @param block_size side of the blocks of threads that multiply matrices: 4, 8, 16 or 32.
  /// @throws Error if no GPU can be used.
  explicit NaiveCudaExecutor(int block_size = naive_cuda::default_block_size)
      : block_size_(block_size) {}

  Memory& memory() override;
  Memory& staging_memory() override;
  bool host_accessible() const override { return false; }
  void copy_in(void* to, const void* host, std::size_t bytes) override;
  void copy_out(void* host, const void* from, std::size_t bytes) override;
  void synchronize() override { main_.synchronize(); }
  double measure(const std::function<void()>& work) override;

  using Executor<T>::run;
  void run(const Gather& op);
  void run(const Gemm& op);
  void run(const AddBias& op);
  void run(const ColumnSums& op);
  void run(const Sum& op);
  void run(const Relu& op);
  void run(const ReluBackward& op);
  void run(const Sigmoid& op);
  void run(const SigmoidBackward& op);
  void run(const SoftmaxCrossEntropy& op);
  void run(const SoftmaxCrossEntropyBackward& op);
  void run(const SquaredError& op);
  void run(const SquaredErrorBackward& op);
  void run(const ArgMax& op);
  void run(const Threshold& op);
  void run(const Accumulate& op);
  void run(const Convolution& op);
  void run(const ConvolutionBackward& op);
  void run(const AveragePool& op);
  void run(const AveragePoolBackward& op);
  void run(const SgdUpdate& op);
  void run(const Mean& op);
  void run(const Copy& op);

  /// Where work goes, in the order of the calls.
  const cuda::Stream& main_stream() const { return main_; }

 protected:
  /// Where the kernels of the current line go.
  virtual cudaStream_t stream() const { return main_.get(); }

  /// Makes a line's lane the current one, for who has several.
  virtual void select_lane(int /*lane*/) {}

  void prepare(const Program& program) override;

  /// Makes room for what Gather takes on its way to the GPU.
  virtual void prepare_gather(const Gather& op);

  void run(const Line& line) override {
    const cuda::Range range(name_of(line.operation));
    run_operation(*this, line.operation, line.replaces);
  }

 private:
  cuda::Stream main_;
  cuda::TimedEvent start_;  ///< of what is measured
  cuda::TimedEvent stop_;
  int block_size_;
  Tensor<T> host_batch_;  ///< in pinned memory, on its way to the GPU
  Tensor<std::int32_t> host_labels_;
};

extern template class NaiveCudaExecutor<float>;
extern template class NaiveCudaExecutor<double>;

}  // namespace stagewise

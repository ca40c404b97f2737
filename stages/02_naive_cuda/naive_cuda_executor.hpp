/// @file
/// Stage 02: every operation as a kernel with one thread per output element.
#pragma once

#include "02_naive_cuda/kernels.hpp"
#include "cuda/counters.hpp"
#include "cuda/handles.hpp"
#include "cuda/memory.hpp"
#include "cuda/range.hpp"
#include "cuda/stopwatch.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// Calls the stage's function for a line, in a range that a profiler shows under the line's name.
template <typename Stage>
void run_in_range(Stage& stage, const Line& line) {
  const cuda::Range range(name_of(line.operation));
  run_operation(stage, line.operation, line.replaces);
}

/// Executes each operation with a kernel of namespace naive_cuda, all in one stream: each starts
/// when the previous one has ended. All values are in the GPU's memory.
template <typename T>
class NaiveCudaExecutor : public Executor<T> {
 public:
  /// @param block_size side of the blocks of threads that multiply matrices: 4, 8, 16 or 32.
  /// @throws Error if no GPU can be used.
  explicit NaiveCudaExecutor(int block_size = naive_cuda::default_block_size)
      : block_size_(block_size) {}

  Memory& memory() override { return cuda::device_memory(); }
  Memory& staging_memory() override { return cuda::pinned_memory(); }
  bool host_accessible() const override { return false; }
  void copy_in(void* to, const void* host, std::size_t bytes) override;
  void copy_out(void* host, const void* from, std::size_t bytes) override;
  void synchronize() override { main_.synchronize(); }
  bool computes(Activation activation) const override { return naive_cuda::computes(activation); }
  double measure(const std::function<void()>& work) override {
    return stopwatch_.measure(main_, work);
  }
  KernelCounters counters() const override { return cuda::kernel_counters(); }

  using Executor<T>::run;
  void run(const Gather& op);
  //! [run]
  void run(const Gemm& op) { naive_cuda::gemm(stream(), this->problem(op), block_size_); }
  void run(const AddBias& op) { launch(naive_cuda::add_bias<T>, op); }
  void run(const ColumnSums& op) { launch(naive_cuda::column_sums<T>, op); }
  /// Any activation.
  template <Activation activation>
  void run(const Activate<activation>& op) {
    launch(naive_cuda::activate<T>, op);
  }
  /// The way back through it.
  template <Activation activation>
  void run(const ActivateBackward<activation>& op) {
    launch(naive_cuda::activate_backward<T>, op);
  }
  void run(const SoftmaxCrossEntropy& op) { launch(naive_cuda::softmax_cross_entropy<T>, op); }
  void run(const SoftmaxCrossEntropyBackward& op) {
    launch(naive_cuda::softmax_cross_entropy_backward<T>, op);
  }
  void run(const SquaredError& op) { launch(naive_cuda::squared_error<T>, op); }
  void run(const SquaredErrorBackward& op) { launch(naive_cuda::squared_error_backward<T>, op); }
  void run(const ArgMax& op) { launch(naive_cuda::argmax<T>, op); }
  void run(const Threshold& op) { launch(naive_cuda::threshold<T>, op); }
  void run(const Accumulate& op) { launch(naive_cuda::accumulate<T>, op); }
  void run(const Convolution& op) { launch(naive_cuda::convolution<T>, op); }
  void run(const ConvolutionBackward& op) { launch(naive_cuda::convolution_backward<T>, op); }
  void run(const AveragePool& op) { launch(naive_cuda::average_pool<T>, op); }
  void run(const AveragePoolBackward& op) { launch(naive_cuda::average_pool_backward<T>, op); }
  void run(const SgdUpdate& op) { update(naive_cuda::sgd_update<T>, op); }
  void run(const MomentumUpdate& op) { update(naive_cuda::momentum_update<T>, op); }
  void run(const AdamUpdate& op) { update(naive_cuda::adam_update<T>, op); }
  //! [run]
  void run(const Sum& op);
  void run(const Mean& op);
  void run(const Copy& op);

  /// The stream that executes the work, in the order of the calls.
  const cuda::Stream& main_stream() const { return main_; }

 protected:
  /// The stream for the kernels of the current line.
  virtual cudaStream_t stream() const { return main_.get(); }

  //! [launch]
  /// Launches a kernel for an operation of the current line.
  template <typename Function, typename Op>
  void launch(Function* kernel, const Op& op) {
    const auto in_stream = [&](const auto&... arguments) { kernel(stream(), arguments...); };
    std::apply(in_stream, this->arguments(op));
  }
  //! [launch]

  /// The same for an update; of a worker that has no samples, there is none.
  template <typename Function, typename Op>
  void update(Function* kernel, const Op& op) {
    if (this->shard(op.parameter).rows > 0) launch(kernel, op);
  }

  /// Makes a line's lane the current one, in executors with several lanes.
  virtual void select_lane(int /*lane*/) {}

  void prepare(const Program& program) override;

  /// Allocates the pinned memory through which Gather copies to the GPU.
  virtual void prepare_gather(const Gather& op);

  void run(const Line& line) override { run_in_range(*this, line); }

 private:
  cuda::Stream main_;
  cuda::Stopwatch stopwatch_;
  int block_size_;
  Tensor<T> host_batch_;  ///< in pinned memory, on its way to the GPU
  Tensor<std::int32_t> host_labels_;
};

extern template class NaiveCudaExecutor<float>;
extern template class NaiveCudaExecutor<double>;

}  // namespace stagewise

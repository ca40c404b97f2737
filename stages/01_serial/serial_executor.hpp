/// @file
/// Stage 01: every operation as loops on one core.
#pragma once

#include "01_serial/gemm.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// Executes each operation by the loops of namespace serial.
template <typename T>
class SerialExecutor : public Executor<T> {
 public:
  explicit SerialExecutor(serial::GemmVariant gemm_variant = serial::GemmVariant::reordered)
      : gemm_variant_(gemm_variant) {}

  Memory& memory() override { return host_memory(); }
  bool host_accessible() const override { return true; }
  void copy_in(void* to, const void* host, std::size_t bytes) override;
  void copy_out(void* host, const void* from, std::size_t bytes) override;
  void synchronize() override {}

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

 protected:
  void run(const Line& line) override { run_operation(*this, line.operation, line.replaces); }

 private:
  serial::GemmVariant gemm_variant_;
};

}  // namespace stagewise

/// @file
/// Stage 01: every operation as a loop on one core.
#pragma once

#include <cstring>

#include "01_serial/average_pool.hpp"
#include "01_serial/convolution.hpp"
#include "01_serial/elementwise.hpp"
#include "01_serial/gemm.hpp"
#include "01_serial/loss.hpp"
#include "01_serial/predict.hpp"
#include "01_serial/reduce.hpp"
#include "01_serial/update.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// Executes each operation with the loops of namespace serial.
template <typename T>
class SerialExecutor : public Executor<T> {
 public:
  explicit SerialExecutor(serial::GemmVariant gemm_variant = serial::GemmVariant::reordered)
      : gemm_variant_(gemm_variant) {}

  Memory& memory() override { return host_memory(); }
  bool host_accessible() const override { return true; }
  void copy_in(void* to, const void* host, std::size_t bytes) override {
    std::memcpy(to, host, bytes);
  }
  void copy_out(void* host, const void* from, std::size_t bytes) override {
    std::memcpy(host, from, bytes);
  }
  void synchronize() override {}
  bool computes(Activation activation) const override { return serial::computes(activation); }

  using Executor<T>::run;
  void run(const Gather& op);
  //! [run]
  void run(const Gemm& op) { serial::gemm(gemm_variant_, this->problem(op)); }
  void run(const AddBias& op) { call(serial::add_bias<T>, op); }
  void run(const ColumnSums& op) { call(serial::column_sums<T>, op); }
  /// Any activation.
  template <Activation activation>
  void run(const Activate<activation>& op) {
    call(serial::activate<T>, op);
  }
  /// The way back through it.
  template <Activation activation>
  void run(const ActivateBackward<activation>& op) {
    call(serial::activate_backward<T>, op);
  }
  void run(const SoftmaxCrossEntropy& op) { call(serial::softmax_cross_entropy<T>, op); }
  void run(const SoftmaxCrossEntropyBackward& op) {
    call(serial::softmax_cross_entropy_backward<T>, op);
  }
  void run(const SquaredError& op) { call(serial::squared_error<T>, op); }
  void run(const SquaredErrorBackward& op) { call(serial::squared_error_backward<T>, op); }
  void run(const ArgMax& op) { call(serial::argmax<T>, op); }
  void run(const Threshold& op) { call(serial::threshold<T>, op); }
  void run(const Accumulate& op) { call(serial::accumulate<T>, op); }
  void run(const Convolution& op) { call(serial::convolution<T>, op); }
  void run(const ConvolutionBackward& op) { call(serial::convolution_backward<T>, op); }
  void run(const AveragePool& op) { call(serial::average_pool<T>, op); }
  void run(const AveragePoolBackward& op) { call(serial::average_pool_backward<T>, op); }
  void run(const SgdUpdate& op) { update(serial::sgd_update<T>, op); }
  void run(const MomentumUpdate& op) { update(serial::momentum_update<T>, op); }
  void run(const AdamUpdate& op) { update(serial::adam_update<T>, op); }
  //! [run]
  void run(const Sum& op);
  void run(const Mean& op);
  void run(const Copy& op);

 protected:
  void run(const Line& line) override { run_operation(*this, line.operation, line.replaces); }

 private:
  /// Calls the function with the arguments of the operation.
  template <typename Function, typename Op>
  void call(Function* loops, const Op& op) {
    std::apply(loops, this->arguments(op));
  }

  /// The same for an update; of a worker that has no samples, there is none.
  template <typename Function, typename Op>
  void update(Function* loops, const Op& op) {
    if (this->shard(op.parameter).rows > 0) call(loops, op);
  }

  serial::GemmVariant gemm_variant_;
};

extern template class SerialExecutor<float>;
extern template class SerialExecutor<double>;

}  // namespace stagewise

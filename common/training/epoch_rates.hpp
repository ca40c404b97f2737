/// @file
/// What the updates of an epoch's steps read besides gradients.
#pragma once

#include "network/optimizer.hpp"
#include "training/executor.hpp"

namespace stagewise {

/// The rates of each step of an epoch, in an executor's memory. They are known before the epoch, so
/// that no step has to wait for them.
template <typename T>
class EpochRates {
 public:
  /// @param executor must outlive this.
  /// @param steps of an epoch.
  EpochRates(Executor<T>& executor, const Optimizer& optimizer, Index steps)
      : executor_(&executor), optimizer_(optimizer) {
    if (optimizer.rates) rates_ = Tensor<StepRates>({steps}, executor.memory());
  }

  /// Computes those of the next epoch.
  /// @param before the number of steps before it.
  void begin_epoch(std::int64_t before) {
    if (!optimizer_.rates) return;
    const std::vector<StepRates> rates = rates_of_steps(optimizer_.sgd, before, rates_.elements());
    executor_->copy_in(rates_.data(), rates.data(), rates.size() * sizeof(StepRates));
  }

  /// Those of all steps of the epoch; null if the rate never changes.
  StepRates* data() { return rates_.data(); }

  /// Lets the updates read those of step number `step` of the epoch, which begins with 0.
  void use_step(Index step) {
    if (optimizer_.rates) use(rates_.data() + step);
  }

  /// Lets the updates read them there from now on.
  void use(StepRates* of_step) const {
    if (optimizer_.rates) executor_->bind(optimizer_.rates, of_step);
  }

 private:
  Executor<T>* executor_;
  Optimizer optimizer_;
  Tensor<StepRates> rates_;
};

}  // namespace stagewise

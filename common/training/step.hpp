/// @file
/// One minibatch of training, the part that stages do differently, and the rates of an epoch's steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "network/workers.hpp"
#include "training/network.hpp"

namespace stagewise {

/// Some samples of a data set.
struct Samples {
  const Dataset* dataset = nullptr;
  std::span<const std::uint32_t> order;
};

/// Trains on one minibatch after another and adds up what the epoch reports.
class Step {
 public:
  Step() = default;
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Starts an epoch: totals at zero, samples in the given order.
  /// @param order indices into the training set; must remain unchanged until the epoch's end.
  virtual void begin_epoch(std::span<const std::uint32_t> order) = 0;

  /// Says which order the next epoch will have, once all of this one has been passed to run(): the
  /// device may still be busy, so what the next epoch needs can be fetched meanwhile. begin_epoch()
  /// must get the same order then, which is not looked at again.
  virtual void prepare_epoch([[maybe_unused]] std::span<const std::uint32_t> order) {}

  /// Trains on the samples `order[first]`, ..., `order[first + rows - 1]`. May return before the
  /// device is done.
  virtual void run(Index first, Index rows) = 0;

  /// The epoch's totals so far. Waits for the device.
  virtual Totals totals() = 0;

  /// Where totals() has found the first bad step, to be added to a sentence: " on rank 2". Empty if
  /// there is only one place.
  virtual std::string place_of_bad_step() const { return ""; }

  /// How many of the samples passed to run() in this epoch have been trained on, as far as can be
  /// told without waiting.
  /// @param asked the number of samples passed to run().
  virtual Index samples_done(Index asked) const { return asked; }

  /// Whether all requested work is done, as far as can be told without waiting. Starts what run()
  /// has only noted.
  virtual bool is_done() { return true; }

  /// Ends an epoch: from now on, the network's parameters are those to report and to save.
  virtual void end_epoch() {}

  /// This process's part of the epoch's last batch.
  virtual Samples last_batch() const = 0;

  /// Each worker's parameters if workers have their own; else empty.
  virtual std::vector<std::vector<ParameterValues>> worker_parameters() const { return {}; }

  /// What the optimizer keeps from step to step, by the names of its values: "velocity/fc1/weight".
  /// Empty if it keeps nothing.
  virtual std::vector<ParameterValues> optimizer_state() const { return {}; }

  /// Continues from there; a new step begins with zeros.
  /// @param source where the state comes from: "the checkpoint model.h5".
  /// @throws Error unless there is a state for each parameter.
  virtual void set_optimizer_state([[maybe_unused]] const std::vector<ParameterValues>& state,
                                   [[maybe_unused]] const std::string& source) {}

  /// What the user should know about how the step works here, one sentence each; usually empty.
  virtual std::vector<std::string> notes() const { return {}; }
};

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

/// The parameters from which all workers start: one set, or one for each that has its own.
using Starts = std::vector<std::vector<ParameterValues>>;

/// What a step trains, and how.
template <typename T>
struct StepSetup {
  Network<T>& network;  ///< not loaded yet; it and the training set outlive the step
  const Dataset& training_set;
  WorkerOptions workers = {};
  Index max_rows = 0;                        ///< of the largest batch
  std::int64_t steps_done = 0;               ///< before this run: 0, or a checkpoint's
  std::function<void(double)> on_size = {};  ///< see Executor::load()
};

/// The plain step: executes the training program, batch by batch.
template <typename T>
class ProgramStep final : public Step {
 public:
  /// @throws Error if there is not enough memory.
  ProgramStep(const StepSetup<T>& setup, TrainingPrograms programs, const Starts& starts);

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override;
  Totals totals() override;
  void end_epoch() override;
  Samples last_batch() const override;
  std::vector<std::vector<ParameterValues>> worker_parameters() const override;
  std::vector<ParameterValues> optimizer_state() const override;
  void set_optimizer_state(const std::vector<ParameterValues>& state, const std::string& source) override;

 private:
  StepSetup<T> setup_;
  TrainingPrograms programs_;
  EpochRates<T> rates_;
  std::span<const std::uint32_t> order_;
  Batch batch_;  ///< the last one
};

/// Sets all parameters of the workers that have their own.
/// @throws Error unless there are as many starts as workers.
template <typename T>
void start_workers(Network<T>& network, const TrainingPrograms& programs, const Starts& starts);

/// Copies what the optimizer keeps to the host.
/// @param executor has loaded the step.
template <typename T>
std::vector<ParameterValues> copy_state_out(Executor<T>& executor, const TrainingPrograms& programs);

/// Sets it, by name.
/// @param state null: to zero.
/// @throws Error unless it has everything that the optimizer keeps, each in the right shape.
template <typename T>
void copy_state_in(Executor<T>& executor, const TrainingPrograms& programs,
                   const std::vector<ParameterValues>* state = nullptr, const std::string& source = "");

/// Sets the totals to zero.
template <typename T>
void reset_totals(Executor<T>& executor, const std::vector<ValueId>& totals);

/// Adds up the totals of the workers. Waits for the device.
template <typename T>
Totals totals_of(Executor<T>& executor, const std::vector<ValueId>& totals);

}  // namespace stagewise

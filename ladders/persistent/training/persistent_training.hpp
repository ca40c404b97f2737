/// @file
/// Stage 04 with a kernel that takes many steps: the rewrite of a whole step into one line, what
/// executes it, and training by its launches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "04_minibatch/data/resident_data.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "ladders/persistent/training/mlp_steps.hpp"
#include "training/step.hpp"

namespace stagewise::minibatch::persistent {

/// Whether a step becomes one line.
enum class Choice : std::uint8_t {
  automatic,  ///< where it is estimated to be faster
  always,     ///< wherever it can be done
  never
};

/// The step of a network with one hidden layer, without workers, as a single `persistent_step`;
/// nothing for other programs, and where `choice` says so.
/// @tparam T its size decides what fits.
/// @param max_rows the rows of the largest batch.
/// @throws Error if no GPU can be used, or it does not fit and `choice` is always.
template <typename T>
std::optional<Program> as_persistent_step(const Program& program, Index max_rows, Choice choice);

}  // namespace stagewise::minibatch::persistent

namespace stagewise {

/// Computes `persistent_step`; everything else is stage 04's.
template <typename T>
class PersistentExecutor final : public MinibatchExecutor<T> {
 public:
  /// @param plan how the network is divided; without one, as is estimated to be the fastest.
  explicit PersistentExecutor(const std::optional<minibatch::persistent::Plan>& plan = {}) : plan_(plan) {}

  using MinibatchExecutor<T>::run;
  void run(const PersistentStep& op);

  /// Where the kernel tells the host which step is done: in pinned memory.
  void report_steps_to(volatile std::int64_t* progress) { progress_ = progress; }

 private:
  void prepare(const Program& program) override;
  void run(const Line& line) override { run_in_range(*this, line); }

  /// The sizes of the network that a line trains.
  minibatch::persistent::MlpShape shape_of(const PersistentStep& op) const;

  std::optional<minibatch::persistent::Plan> plan_;
  volatile std::int64_t* progress_ = nullptr;
  std::optional<minibatch::persistent::Trainer<T>> trainer_;
};

/// Trains as RecordedStep does, with a program that consists of a `persistent_step`: an epoch is a
/// launch of the first steps and another of the rest. All batches but an epoch's last are full, and
/// the data set is on the device.
template <typename T>
class PersistentTraining final : public Step {
 public:
  /// @param programs the step: one `persistent_step`.
  /// @param starts one set of parameters, or none if the caller sets them.
  /// @throws Error if the GPU has too little memory, also for the data set.
  PersistentTraining(const StepSetup<T>& setup, PersistentExecutor<T>& executor, TrainingPrograms programs,
                     const Starts& starts);
  ~PersistentTraining() override;
  PersistentTraining(const PersistentTraining&) = delete;
  PersistentTraining& operator=(const PersistentTraining&) = delete;

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void prepare_epoch(std::span<const std::uint32_t> order) override { epoch_.prepare_epoch(order); }
  void run(Index first, Index rows) override;
  Index samples_done(Index asked) const override;
  bool is_done() override;
  Totals totals() override;
  void end_epoch() override { launch(); }
  Samples last_batch() const override;

 private:
  void launch();

  StepSetup<T> setup_;
  PersistentExecutor<T>* executor_;
  TrainingPrograms programs_;
  ResidentData<T> data_;
  EpochOrder epoch_;
  Tensor<std::int64_t> progress_;  ///< in pinned memory: steps that the device has done
  std::span<const std::uint32_t> order_;
  Batch last_ = {};      ///< requested last
  Index begun_ = 0;      ///< samples of the order whose steps have been launched
  Index requested_ = 0;  ///< samples passed to run()
};

extern template class PersistentExecutor<float>;
extern template class PersistentExecutor<double>;

}  // namespace stagewise

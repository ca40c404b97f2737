/// @file
/// The loop over epochs and minibatches.
#pragma once

#include <cstdint>

#include "data/dataset.hpp"
#include "io/checkpoint.hpp"
#include "io/report.hpp"
#include "training/network.hpp"
#include "training/ranks.hpp"
#include "training/step.hpp"

namespace stagewise {

/// What determines a training run, besides network and data.
struct TrainingOptions {
  Index batch_size = 100;
  std::int64_t epochs = 5;  ///< in total, including those before a resumption
  Sgd sgd;
  std::uint64_t seed = 1;
  bool shuffle = true;
  std::int64_t log_every = 0;  ///< steps between two reports within an epoch; 0: none
};

/// Observes a training run.
class TrainingObserver {
 public:
  TrainingObserver() = default;
  virtual ~TrainingObserver() = default;
  TrainingObserver(const TrainingObserver&) = delete;
  TrainingObserver& operator=(const TrainingObserver&) = delete;

  /// Called after each step, and while waiting for the last steps of an epoch.
  /// @param samples how many samples of this epoch are done.
  virtual void on_step(std::int64_t epoch, Index samples) = 0;

  /// Called every TrainingOptions::log_every steps of an epoch, and after its last.
  virtual void on_log(const StepReport& /*report*/) {}

  /// Called after each epoch.
  /// @param steps the number completed over all epochs.
  /// @param parameters at the epoch's end, all finite.
  virtual void on_epoch(const EpochReport& report, std::int64_t steps,
                        const std::vector<ParameterValues>& parameters) = 0;
};

/// The order in which an epoch visits `count` samples. Depends on its arguments only, so that a
/// resumed run continues as if it had never stopped.
/// @param epoch counted from 1.
/// @param order receives the indices; its capacity is reused.
void order_of_epoch(Index count, std::uint64_t seed, std::int64_t epoch, bool shuffle,
                    std::vector<std::uint32_t>& order);

/// Trains the network.
/// @param network loaded for batches of `options.batch_size`, with its parameters set.
/// @param training_set only its size matters here; the step uses its samples.
/// @param validation this rank's share of the set that is evaluated after every epoch; no
///        evaluation if the shares of all ranks are empty.
/// @param ranks the ranks that train together; null: there is only one.
/// @param first_epoch the first epoch to run, counted from 1: 1 more than a checkpoint's.
/// @throws NotFinite naming epoch, step and what is known of the cause if the loss becomes NaN or
///         infinite; the observer is then not called for that epoch.
template <typename T>
void train(Network<T>& network, Step& step, const Dataset& training_set, const Dataset& validation,
           const TrainingOptions& options, std::int64_t first_epoch, TrainingObserver& observer,
           Ranks* ranks = nullptr);

}  // namespace stagewise

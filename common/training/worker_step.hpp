/// @file
/// Data parallelism, simulated: the reference that stages 04 and 05 are compared with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/checkpoint.hpp"
#include "training/step.hpp"

namespace stagewise {

/// What the workers exchange (report 003, section 2).
enum class Average : std::uint8_t {
  gradients,  ///< one set of parameters; every update follows the mean of the workers' gradients
  weights     ///< each worker has its own parameters, which are replaced by their mean now and then
};

/// How a batch is shared out.
struct WorkerOptions {
  int workers = 1;
  Average average = Average::gradients;
  std::int64_t average_every = 1;  ///< steps between two means of the weights
};

/// A run of consecutive samples.
struct Shard {
  Index first = 0;
  Index rows = 0;
};

/// Shard number `worker` of `rows` samples: `workers` runs, one behind the other, whose sizes
/// differ by at most one, the longer ones first. Where there are more workers than samples, the
/// last workers get none.
Shard shard_of(Index rows, int workers, int worker);

/// Trains as `workers` workers would, one after another.
///
/// With Average::gradients the shards' gradients are weighted by their sizes, which makes the mean
/// that of the whole batch; one worker is bit for bit the eager step.
///
/// With Average::weights each worker takes a step of its own on its shard; after every
/// `average_every` steps, counted over all epochs, all continue from their mean. What is reported,
/// evaluated and saved at an epoch's end is the mean at that moment; if the workers do not continue
/// from it, they keep their own parameters.
template <typename T>
class WorkerStep final : public Step {
 public:
  /// @param starts for Average::weights, the parameters from which each worker starts. All other
  ///        arguments must outlive the step.
  /// @param steps_done steps before this training: 0, or a checkpoint's.
  WorkerStep(Network<T>& network, const Dataset& training_set, const Sgd& sgd,
             const WorkerOptions& options, const std::vector<std::vector<ParameterValues>>& starts,
             std::int64_t steps_done);

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override;
  Totals totals() override;
  void end_epoch() override;
  std::vector<std::vector<ParameterValues>> worker_parameters() const override;
  std::vector<Timing> timings() const override;

 private:
  /// All parameters' values, one parameter behind the other, on the host.
  using Flat = std::vector<T>;

  void run_shard(const Shard& shard);
  void step_with_mean_gradient(Index first, Index rows);
  void step_each(Index first, Index rows);
  void load(const Flat& values);
  void store(Flat& values);
  void compute_mean();

  Network<T>* network_;
  Sgd sgd_;
  WorkerOptions options_;
  PlainFeeder<T> feeder_;
  std::span<const std::uint32_t> order_;
  std::int64_t steps_done_;         ///< over all epochs
  std::int64_t step_of_epoch_ = 0;  ///< counted from 1
  Tensor<Totals> totals_;
  std::vector<Tensor<T>> gradients_;  ///< Average::gradients: the weighted sum for each parameter
  std::vector<Flat> workers_;         ///< Average::weights: each worker's parameters
  Flat mean_;
  Timing gather_{.operation = "batch (gather, copy in)"};
  Timing switch_{.operation = "worker (take over)"};  ///< what only one that plays many has to do
  Timing average_{.operation = "workers (average)"};
  Timing update_{.operation = "parameters (update)"};
};

}  // namespace stagewise

/// @file
/// The training step of stage 05: stage 04's, on this rank's part of the batch or of the network.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "04_minibatch/recorded_step.hpp"
#include "05_mpi/distribute.hpp"
#include "05_mpi/distributed_executor.hpp"
#include "mpi/mpi_ranks.hpp"
#include "mpi/shards.hpp"

namespace stagewise::mpi {

/// How the ranks work together.
struct DistributedStepOptions {
  RecordedStepOptions step;  ///< this rank's
  /// Whether gradients are exchanged while others are computed; see distribute_data(). If unset,
  /// unless kernels add up: the GPU has no room for them beside a product, and several sums take
  /// longer than one.
  std::optional<bool> overlaps;
};

/// Trains as stage 04 does, with a program made by distribute_data() or distribute_tensor(). All
/// ranks have the whole data set and know the epoch's order; each trains on its part of every
/// batch, or on all of it. With Average::gradients, all ranks have the same parameters, to the
/// last bit.
template <typename T>
class DistributedStep final : public Step {
 public:
  /// @param setup its network receives updates, means, or, at the end of an epoch, the ranks'
  ///        parts; there are as many workers as ranks.
  /// @param executor the network's, whose mesh says what the ranks share out. It, `world` and
  ///        `ranks` must outlive the step.
  /// @throws Error if there is too little memory; UsageError if the network cannot be split.
  DistributedStep(const StepSetup<T>& setup, DistributedExecutor<T>& executor, const Sgd& sgd,
                  const Starts& starts, World& world, MpiRanks& ranks,
                  const DistributedStepOptions& options);

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void prepare_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override {
    step_->run(first, rows);
    executor_->check();
  }
  Index samples_done(Index asked) const override { return step_->samples_done(asked); }
  bool is_done() override { return step_->is_done(); }
  Totals totals() override;
  std::string place_of_bad_step() const override;
  void end_epoch() override;
  Samples last_batch() const override { return step_->last_batch(); }

  /// On rank 0; empty on the others. Waits for the other ranks.
  std::vector<std::vector<ParameterValues>> worker_parameters() const override;

  /// The parts of all ranks put together, or, if each has weights of its own, those of each. Waits
  /// for the other ranks.
  std::vector<ParameterValues> optimizer_state() const override;
  void set_optimizer_state(const std::vector<ParameterValues>& state,
                           const std::string& source) override;
  std::vector<std::string> notes() const override { return step_->notes(); }

 private:
  /// The order of this rank's samples, given that of all.
  std::vector<std::uint32_t> own_order(std::span<const std::uint32_t> order) const;

  /// The part of the network that this rank has.
  Part part() const { return executor_->mesh().part(Group::tensor); }

  /// Those with which it shares out the network.
  Communicator& tensor_group() const { return executor_->mesh().of(Group::tensor); }

  /// The part of each batch that it trains on.
  Part samples() const { return executor_->mesh().part(Group::data); }

  void start_split(const std::vector<ParameterValues>& start);
  void gather_split();

  StepSetup<T> setup_;
  DistributedExecutor<T>* executor_;
  World* world_;
  MpiRanks* ranks_;
  Shards shards_;
  bool splits_network_;                        ///< among several ranks
  std::vector<std::uint32_t> own_order_;       ///< of this rank's samples
  std::vector<std::uint32_t> next_own_order_;  ///< of the epoch that has been prepared
  std::vector<SplitParameter> parameters_;
  std::unique_ptr<RecordedStep<T>> step_;
};

}  // namespace stagewise::mpi

/// @file
/// The training step of stage 05's data parallelism: stage 04's, on this rank's part of every
/// batch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "04_minibatch/captured_step.hpp"
#include "05_mpi/layer_exchange.hpp"
#include "05_mpi/mpi_ranks.hpp"
#include "05_mpi/shares.hpp"

namespace stagewise::mpi {

/// How a DistributedStep works.
struct DistributedStepOptions {
  CapturedStepOptions step;  ///< of this rank; `samples` does not matter
  TransportOptions transport;
};

/// Trains as stage 04's workers do, each of them a process with a GPU. Every rank has its share of
/// each batch, in a network of its own, and takes stage 04's step on it.
///
/// Average::gradients: the step hands its gradients to a LayerExchange, which updates the
/// parameters by the sum over the ranks. All ranks have the same parameters, to the last bit.
///
/// Average::weights: the step updates this rank's own parameters, and needs nobody; so it is
/// recorded as in stage 04. After every `average_every` steps, all continue from their mean.
template <typename T>
class DistributedStep final : public Step {
 public:
  /// @param network built for training on `backend`, for batches of all ranks together. Receives
  ///        updates or means. It, backend, training set, world and ranks must outlive the step.
  /// @param training_set elsewhere than on rank 0 an outline, if rank 0 sends the samples.
  /// @param workers of whom there are as many as ranks.
  /// @param starts as for WorkerStep.
  /// @throws Error if there is too little memory.
  DistributedStep(Network<T>& network, MinibatchBackend<T>& backend, const ModelOptions& model,
                  const Dataset& training_set, const Sgd& sgd, const WorkerOptions& workers,
                  const std::vector<std::vector<ParameterValues>>& starts, std::int64_t steps_done,
                  World& world, MpiRanks& ranks, const DistributedStepOptions& options);

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override;
  Index samples_done(Index asked) const override;
  bool is_done() override { return step_->is_done(); }
  Totals totals() override;
  std::string place_of_bad_step() const override;
  void end_epoch() override;

  /// On rank 0; elsewhere empty. Waits for the other ranks.
  std::vector<std::vector<ParameterValues>> worker_parameters() const override;
  std::vector<Timing> timings() const override;
  std::vector<std::string> notes() const override { return step_->notes(); }

 private:
  void scatter_samples(std::span<const std::uint32_t> order);
  void average_weights(bool ranks_too);
  const Dataset& own_set() const { return sends_ ? sent_ : *training_set_; }

  Network<T>* network_;
  MinibatchBackend<T>* backend_;
  const Dataset* training_set_;
  Sgd sgd_;
  WorkerOptions workers_;
  World* world_;
  MpiRanks* ranks_;
  Shares shares_;
  bool sends_;  ///< whether rank 0 sends the others their samples
  Dataset sent_;
  std::vector<std::uint32_t> sent_order_;  ///< of the epoch that sent_ was sent for
  std::vector<std::uint32_t> own_order_;   ///< of this rank's samples, within own_set()
  Index last_rows_ = 0;                    ///< of this rank's last batch
  std::int64_t steps_done_;                ///< over all epochs

  std::unique_ptr<Network<T>> own_network_;
  std::unique_ptr<LayerExchange<T>> exchange_;  ///< Average::gradients, of several ranks
  std::unique_ptr<Transport<T>> transport_;     ///< Average::weights
  std::unique_ptr<CapturedStep<T>> step_;
  Timing average_{.operation = "workers (average, update)"};
};

extern template class DistributedStep<float>;
extern template class DistributedStep<double>;

}  // namespace stagewise::mpi

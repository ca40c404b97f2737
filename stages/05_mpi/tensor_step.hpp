/// @file
/// The training step of stage 05's tensor parallelism.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "04_minibatch/resident_data.hpp"
#include "04_minibatch/streamed_feeder.hpp"
#include "05_mpi/mpi_ranks.hpp"
#include "05_mpi/split_mlp.hpp"
#include "training/step.hpp"

namespace stagewise::mpi {

/// Trains a network that is split over the ranks: each has some of the hidden units and computes
/// them for the whole batch. What the ranks exchange in a step is not the gradient of every weight,
/// but the outputs of a batch: for 784-1000-10 in double and batches of 800, 64 KB instead of 6.4
/// MB (report 000 left this for future work).
template <typename T>
class TensorStep final : public Step {
 public:
  /// @param network the whole one, built for training on `backend`, its parameters set. Receives
  ///        the ranks' parts at an epoch's end. It, backend, training set and world must outlive
  ///        the step.
  /// @param training_set elsewhere than on rank 0 an outline, if rank 0 sends the samples.
  /// @param streams_batches leave the data in the host's memory even if the device has room.
  /// @param processes that share the GPU, this one included.
  /// @throws Error if there is too little memory; UsageError if the network cannot be split.
  TensorStep(Network<T>& network, MinibatchBackend<T>& backend, const ModelOptions& model,
             const Dataset& training_set, const Sgd& sgd, World& world, const MpiRanks& ranks,
             const TransportOptions& transport, bool streams_batches, int processes);
  ~TensorStep() override;
  TensorStep(const TensorStep&) = delete;
  TensorStep& operator=(const TensorStep&) = delete;

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override;
  Totals totals() override;
  void end_epoch() override;
  std::vector<Timing> timings() const override;
  std::vector<std::string> notes() const override { return notes_; }

 private:
  const Dataset& data() const { return sent_ ? *sent_ : *training_set_; }
  void decide_on_residence(bool streams_batches, int processes);
  void feed(Index first, Index rows);

  Network<T>* network_;
  MinibatchBackend<T>* backend_;
  const Dataset* training_set_;
  Sgd sgd_;
  World* world_;
  Index hidden_ = 0;  ///< units of the hidden layer
  Shard units_;       ///< this rank's
  std::optional<Dataset> sent_;
  std::unique_ptr<Transport<T>> transport_;
  std::unique_ptr<Network<T>> part_;
  std::unique_ptr<ResidentData<T>> resident_;  ///< null: batches are streamed
  std::unique_ptr<StreamedFeeder<T>> feeder_;
  std::span<const std::uint32_t> order_;
  Index last_rows_ = 0;
  std::int64_t step_ = 0;  ///< within the epoch, counted from 1
  Tensor<Totals> totals_;
  std::vector<std::string> notes_;
  Timing gather_{.operation = "batch (gather)"};
};

extern template class TensorStep<float>;
extern template class TensorStep<double>;

}  // namespace stagewise::mpi

/// @file
/// The training step of stage 04: recorded once, repeated without the host.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "04_minibatch/resident_data.hpp"
#include "04_minibatch/streamed_feeder.hpp"
#include "04_minibatch/workers.hpp"

namespace stagewise {

/// Who puts a batch together, where the data set is on the device.
enum class GatherForm : std::uint8_t {
  automatic,  ///< the products where they can, else a kernel
  loads,      ///< the products that read the input pick its rows
  kernel      ///< a kernel copies the rows, one behind the other
};

/// How a CapturedStep works.
struct CapturedStepOptions {
  bool captures = true;          ///< record steps and repeat them, or launch every kernel anew
  bool repeats = true;           ///< else recording only loads the kernels, before times are taken
  bool streams_batches = false;  ///< leave the data set in the host's memory even if it fits
  GatherForm gather = GatherForm::automatic;
  bool fuses = true;         ///< for the backends of further workers
  Index samples = 0;         ///< that an epoch visits; 0: all of the training set
  int processes = 1;         ///< that share the GPU, this one included
  Index evaluated_rows = 0;  ///< of the batches of an evaluation; 0: as many as in training
};

/// Trains as WorkerStep does: workers share every batch, but all at once, on one GPU.
///
/// The data set is on the device as a whole where it fits, and a step's batch are the rows that
/// come next in the epoch's order; else batches are streamed.
///
/// What a step enqueues depends on the size of the batch only, since it is the device that knows
/// which samples come next. So steps are recorded, several in a row, and an epoch is a few launches
/// of recordings. Within an epoch of resident data nothing is allocated, nothing is copied, and the
/// host waits for nothing. Therefore run() must be called for the samples in their order, from the
/// epoch's first on, and all batches but the last must be full.
template <typename T>
class CapturedStep final : public Step {
 public:
  /// @param network built for training on `backend`; see Workers.
  /// @param model what it was built from.
  /// @param starts as for WorkerStep. It and `model` may go afterwards; network, backend and
  ///        training set must outlive the step.
  /// @param exchange adds the gradients up with those of other processes, for a single worker that
  ///        averages gradients and records nothing; null: there are no others.
  /// @throws Error if the GPU has too little memory.
  CapturedStep(Network<T>& network, MinibatchBackend<T>& backend, const ModelOptions& model,
               const Dataset& training_set, const Sgd& sgd, const WorkerOptions& workers,
               const std::vector<std::vector<ParameterValues>>& starts, std::int64_t steps_done,
               const CapturedStepOptions& options, GradientExchange<T>* exchange = nullptr);
  ~CapturedStep() override;
  CapturedStep(const CapturedStep&) = delete;
  CapturedStep& operator=(const CapturedStep&) = delete;

  void begin_epoch(std::span<const std::uint32_t> order) override;
  void run(Index first, Index rows) override;
  Index samples_done(Index asked) const override;
  bool is_done() override;
  Totals totals() override;
  void end_epoch() override;
  std::vector<std::vector<ParameterValues>> worker_parameters() const override;
  std::vector<Timing> timings() const override;
  std::vector<std::string> notes() const override { return notes_; }

  /// Launches the steps that were asked for and wait to be launched together.
  void launch_pending();

  /// The training set has other samples now, as many as before: those on the device are replaced.
  void reload();

 private:
  /// What recordings differ in.
  struct Recording {
    Index rows = 0;
    Index steps = 0;
    int place = 0;  ///< where a streamed batch is
    std::array<Index, 3> key() const { return {rows, steps, place}; }
  };

  void decide_on_residence(bool streams_batches);
  void record_all();
  void launch(const Recording& what);
  void enqueue(const Recording& what);
  const cuda::Stream& stream() const { return backend_->own_stream(); }

  Network<T>* network_;
  MinibatchBackend<T>* backend_;
  const Dataset* training_set_;
  WorkerOptions worker_options_;
  CapturedStepOptions options_;
  Index samples_;  ///< of an epoch
  Workers<T> workers_;
  std::vector<std::string> notes_;

  std::unique_ptr<ResidentData<T>> data_;      ///< null: batches are streamed
  std::unique_ptr<StreamedFeeder<T>> feeder_;  ///< null: the data set is resident
  Tensor<T> batch_;                            ///< what a kernel has gathered, if one does
  Labels batch_labels_;
  Tensor<minibatch::Cursor> cursor_;
  Tensor<std::int64_t> progress_;  ///< in pinned memory: steps that the device has done
  bool selects_ = false;           ///< whether the products gather

  std::map<std::array<Index, 3>, cuda::ExecutableGraph> recordings_;  ///< by key()
  Index most_steps_ = 1;                                              ///< in a recording
  std::span<const std::uint32_t> order_;
  Recording pending_;  ///< asked for, and not launched yet
  Index last_rows_ = 0;
  std::int64_t steps_done_;  ///< launched, over all epochs
  Timing gather_{.operation = "batch (gather)"};
};

extern template class CapturedStep<float>;
extern template class CapturedStep<double>;

}  // namespace stagewise

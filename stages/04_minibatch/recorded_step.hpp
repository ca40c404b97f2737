/// @file
/// The training step of stage 04: recorded once, repeated without the host.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "04_minibatch/data/host_data.hpp"
#include "04_minibatch/data/resident_data.hpp"
#include "04_minibatch/fuse/fuse.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "training/step.hpp"

namespace stagewise {

/// How a RecordedStep works.
struct RecordedStepOptions {
  bool records = true;  ///< record steps and repeat them, or launch every kernel anew
  bool repeats = true;  ///< otherwise, recording only loads the kernels, before timing starts
  bool streams_batches = false;  ///< leave the data set in the host's memory even if it fits
  minibatch::FuseOptions fuse;
  int processes = 1;  ///< that share the GPU, including this one
};

/// What a RecordedStep executes, before stage 04's rewrites.
struct StepPrograms {
  TrainingPrograms training = {};
  ValueId features;  ///< of the data set
  ValueId labels;
  ValueId order;  ///< which samples of the data set are the batch
  ValueId batch;  ///< its samples, once gathered or streamed
  ValueId batch_labels;
  Part part = {};  ///< the part of every batch that the data set has
};

/// Those of a training run, without the run itself.
/// @param copies used instead of the model's own values, if given.
StepPrograms step_programs(const Model& model, const std::vector<ValueId>& copies = {},
                           const Part& part = {});

/// Trains as ProgramStep does, but all workers share a batch at the same time, and the host does
/// almost nothing.
///
/// A step's batch consists of the next rows of the data set in the epoch's order. If the data set
/// fits, all of it is on the device; otherwise, batches are streamed from the host's memory.
///
/// What a step enqueues depends only on the size of the batch, since the device itself keeps track
/// of which samples come next. So steps are recorded, several in a row, and an epoch is a few
/// launches of recordings. Within an epoch, nothing is allocated, the host copies nothing but the
/// next epoch's order, and it waits for nothing. Therefore run() must be called for the samples in
/// order, starting with the epoch's first, and all batches except the last must be full.
template <typename T>
class RecordedStep final : public Step {
 public:
  /// @param setup its training set holds the programs' part of every batch, batch after batch; its
  /// largest batch counts the rows of all parts.
  /// @param executor that of the network.
  /// @param samples the samples that an epoch visits, over all parts.
  /// @param starts empty if the caller sets the parameters.
  /// @throws Error if the GPU has too little memory.
  RecordedStep(const StepSetup<T>& setup, MinibatchExecutor<T>& executor, Index samples,
               const StepPrograms& programs, const Starts& starts,
               const RecordedStepOptions& options);
  ~RecordedStep() override;
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  /// @param order the order of the part's samples.
  void begin_epoch(std::span<const std::uint32_t> order) override;
  void prepare_epoch(std::span<const std::uint32_t> order) override {
    epoch_->prepare_epoch(order);
  }

  /// @param first,rows of the whole batch, over all parts.
  void run(Index first, Index rows) override;
  Index samples_done(Index asked) const override;
  bool is_done() override;
  Totals totals() override;
  void end_epoch() override;
  Samples last_batch() const override;
  std::vector<std::vector<ParameterValues>> worker_parameters() const override;
  std::vector<ParameterValues> optimizer_state() const override {
    return copy_state_out(*executor_, programs_.training);
  }
  void set_optimizer_state(const std::vector<ParameterValues>& state,
                           const std::string& source) override {
    copy_state_in(*executor_, programs_.training, &state, source);
  }
  std::vector<std::string> notes() const override { return notes_; }

 private:
  /// What distinguishes recordings.
  struct Recording {
    Index rows = 0;
    Index steps = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): what clang-tidy 14 makes of a default comparison
    auto operator<=>(const Recording&) const = default;
  };

  /// What is copied to the device when an epoch begins.
  struct EpochStart {
    minibatch::Cursor cursor;
    Totals totals;
  };

  void load(const TrainingPrograms& given);
  Program rewritten(const Program& program, bool streams) const;
  bool has_room();
  void record_all(Index samples);
  void launch_pending();
  void enqueue(const Recording& what);
  Index own_rows(Index rows) const {
    return shard_of(rows, programs_.part.count, programs_.part.index).rows;
  }
  const cuda::Stream& stream() const { return executor_->main_stream(); }

  StepSetup<T> setup_;  ///< including the steps launched so far, over all epochs
  MinibatchExecutor<T>* executor_;
  RecordedStepOptions options_;
  std::vector<std::string> notes_;

  StepPrograms programs_;  ///< rewritten
  std::unique_ptr<EpochOrder> epoch_;
  std::unique_ptr<ResidentData<T>> data_;              ///< null: the data set stays on the host
  std::unique_ptr<minibatch::HostData<T>> host_data_;  ///< then it is here
  Tensor<minibatch::Cursor> cursor_;
  Tensor<EpochStart> start_;  ///< in pinned memory, so that the host need not wait for the copy
  EpochRates<T> rates_;
  Tensor<StepRates> chunk_rates_;  ///< in device memory: those of the steps of a recording
  Tensor<std::int64_t> progress_;  ///< in pinned memory: steps that the device has done

  std::map<Recording, cuda::ExecutableGraph> recordings_;
  Index max_steps_ = 1;  ///< in a recording
  std::span<const std::uint32_t> order_;
  Index taken_ = 0;    ///< samples of the order for which steps have been requested
  Recording pending_;  ///< requested, but not launched yet
  Batch last_;
};

}  // namespace stagewise

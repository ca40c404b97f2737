/// @file
/// The training step of stage 04: recorded once, repeated without the host.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "04_minibatch/fuse.hpp"
#include "04_minibatch/minibatch_executor.hpp"
#include "04_minibatch/resident_data.hpp"
#include "training/step.hpp"

namespace stagewise {

/// How a RecordedStep works.
struct RecordedStepOptions {
  bool records = true;           ///< record steps and repeat them, or launch every kernel anew
  bool repeats = true;           ///< else recording only loads the kernels, before times are taken
  bool streams_batches = false;  ///< leave the data set in the host's memory even if it fits
  minibatch::FuseOptions fuse;
  int processes = 1;  ///< that share the GPU, this one included
};

/// What a RecordedStep executes, before stage 04's rewrites.
struct StepPrograms {
  TrainingPrograms training;
  ValueId features;  ///< of the data set
  ValueId labels;
  ValueId order;  ///< which samples of the data set are the batch
  ValueId batch;  ///< and these, where they are gathered or streamed
  ValueId batch_labels;
  Part part = {};  ///< of every batch that the data set has
};

/// Those of a training, without the training itself.
/// @param copies of the model's values, if the training does not use these.
StepPrograms step_programs(const Model& model, const std::vector<ValueId>& copies = {},
                           const Part& part = {});

/// Trains as ProgramStep does, but workers share a batch all at once, and nearly without the host.
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
class RecordedStep final : public Step {
 public:
  /// @param setup its training set has the programs' part of every batch, one batch's samples
  /// behind the other's; its largest batch is that of all parts together.
  /// @param executor the network's.
  /// @param samples that an epoch visits, of all parts together.
  /// @param starts none where the parameters are set by who makes the step.
  /// @throws Error if the GPU has too little memory.
  RecordedStep(const StepSetup<T>& setup, MinibatchExecutor<T>& executor, Index samples,
               const StepPrograms& programs, const Starts& starts,
               const RecordedStepOptions& options);
  ~RecordedStep() override;
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;

  /// @param order of the part's samples.
  void begin_epoch(std::span<const std::uint32_t> order) override;

  /// @param first place of the batch among those of all parts, and likewise `rows`.
  void run(Index first, Index rows) override;
  Index samples_done(Index asked) const override;
  bool is_done() override;
  Totals totals() override;
  void end_epoch() override;
  Samples last_batch() const override;
  std::vector<std::vector<ParameterValues>> worker_parameters() const override;
  std::vector<std::string> notes() const override { return notes_; }

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

  void load(const StepPrograms& programs);
  Program rewritten(const Program& program, const StepPrograms& programs, bool streams) const;
  bool has_room();
  void record_all(Index samples);
  void launch_pending();
  void enqueue(const Recording& what);
  Index own_rows(Index rows) const { return shard_of(rows, part_.count, part_.index).rows; }
  const cuda::Stream& stream() const { return executor_->main_stream(); }

  StepSetup<T> setup_;  ///< with the steps launched so far, over all epochs
  MinibatchExecutor<T>* executor_;
  RecordedStepOptions options_;
  std::vector<std::string> notes_;

  TrainingPrograms programs_;  ///< rewritten
  StepPrograms values_;        ///< whose values, but for the programs
  Part part_;

  std::unique_ptr<ResidentData<T>> data_;  ///< null: batches are streamed
  Tensor<minibatch::Cursor> cursor_;
  Tensor<std::int64_t> progress_;  ///< in pinned memory: steps that the device has done

  std::map<std::array<Index, 3>, cuda::ExecutableGraph> recordings_;  ///< by key()
  Index max_steps_ = 1;                                               ///< in a recording
  std::span<const std::uint32_t> order_;
  Index taken_ = 0;    ///< samples of the order that steps were asked for
  Recording pending_;  ///< asked for, and not launched yet
  Batch last_;
};

}  // namespace stagewise

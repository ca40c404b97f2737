/// @file
/// What a training run prints and writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/status_line.hpp"
#include "io/checkpoint.hpp"
#include "io/report.hpp"
#include "training/trainer.hpp"

namespace stagewise {

/// An epoch, and what the validation set said after it.
struct BestEpoch {
  std::int64_t epoch = 0;
  double loss = 0;
  double accuracy = 0;

  /// Whether another epoch is better: it has a higher accuracy, or the same and a lower loss.
  /// @param report of an epoch with validation.
  bool is_beaten_by(const EpochReport& report) const;
};

/// The best epoch so far of a checkpoint, so that a resumed training knows what is to be beaten:
/// `best-epoch`, `best-validation-loss` and `best-validation-accuracy`; empty if it has none.
/// @throws Error naming the file if what it says makes no sense.
std::optional<BestEpoch> read_best(const Checkpoint& checkpoint, const std::filesystem::path& file);

/// The table of `train --csv`: a row for each step that is reported, or else for each epoch. Rows
/// are appended at the end of their epoch, so a training that is killed leaves whole epochs; if it
/// was killed while appending, the beginning of the next may follow, and end within a row.
class CsvLog {
 public:
  /// Writes nothing yet, so that a training that fails before its first epoch changes no file.
  /// @param path of the file; empty: no rows are written.
  /// @param resumed the checkpoint of a training that is resumed; null for one that begins. An
  ///        existing file keeps its rows up to the checkpoint; without one, it is replaced.
  /// @param source names the checkpoint in messages: "the checkpoint a.h5".
  /// @throws Error if the file cannot be read, or its rows are not those of the training that is
  ///         resumed.
  CsvLog(std::filesystem::path path, const Checkpoint* resumed, const std::string& source);

  /// Adds an epoch.
  /// @param rows at least one; the last one gets the epoch's validation loss and accuracy.
  /// @throws Error if they cannot be written; earlier rows are kept.
  void add(const EpochReport& epoch, std::span<const StepReport> rows);

 private:
  std::filesystem::path path_;
  std::string beginning_;  ///< the columns' names, and earlier rows
  bool is_begun_ = false;
};

/// Prints one line per epoch, and those of --log-every; saves checkpoints; collects the report.
class TrainingLog final : public TrainingObserver {
 public:
  /// @param options, step must outlive this.
  /// @param best of the epochs before, on the validation set.
  /// @param log the table of --csv.
  /// @param writes whether files are written; otherwise this rank only takes part in gathering
  ///        what checkpoints hold.
  TrainingLog(const RunOptions& options, const Dataset& training_set, const Step& step, std::int64_t first_epoch,
              std::optional<BestEpoch> best, CsvLog log, bool writes);

  void on_step(std::int64_t epoch, Index samples) override { progress_.show(epoch, samples); }
  void on_log(const StepReport& report) override;
  void on_epoch(const EpochReport& report, std::int64_t steps, const std::vector<ParameterValues>& parameters) override;

  /// Writes a checkpoint.
  /// @param epoch, steps the number completed so far.
  void save(const std::filesystem::path& file, std::int64_t epoch, std::int64_t steps,
            const std::vector<ParameterValues>& parameters) const;

  /// Prints which epoch was best, and which files have been saved.
  void conclude() const;

  /// Adds epochs and steps.
  void add_to(Report& report) const;

  /// Those that have been run.
  const std::vector<EpochReport>& epochs() const { return epochs_; }

 private:
  /// Says so if the first epoch has led away from the goal.
  void warn_of_rate(const EpochReport& report, const std::vector<ParameterValues>& parameters) const;

  /// Adds an epoch to the table of --csv: a row for each reported step, or else a single one.
  /// @param steps the number completed so far.
  void log(const EpochReport& epoch, std::int64_t steps);

  const RunOptions* options_;
  const Step* step_;
  bool writes_;
  std::string unit_;
  ProgressBar progress_;
  std::vector<EpochReport> epochs_;
  std::vector<StepReport> steps_;
  CsvLog log_;
  std::optional<BestEpoch> best_;
  bool saved_best_ = false;  ///< whether an epoch of this run went to --save-best
};

}  // namespace stagewise

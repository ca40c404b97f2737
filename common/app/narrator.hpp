/// @file
/// What a training run prints and writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/best_epoch.hpp"
#include "app/options.hpp"
#include "app/progress.hpp"
#include "app/training_log.hpp"
#include "training/trainer.hpp"

namespace stagewise {

/// Prints one line per epoch, and those of --log-every; saves checkpoints; collects the report.
class Narrator final : public TrainingObserver {
 public:
  /// @param options, step must outlive this.
  /// @param best of the epochs before, on the validation set.
  /// @param log the table of --csv.
  /// @param writes whether files are written; otherwise this rank only takes part in gathering
  ///        what checkpoints hold.
  Narrator(const RunOptions& options, const Dataset& training_set, const Step& step,
           std::int64_t first_epoch, std::optional<BestEpoch> best, TrainingLog log, bool writes);

  void on_step(std::int64_t epoch, Index samples) override { progress_.show(epoch, samples); }
  void on_log(const StepReport& report) override;
  void on_epoch(const EpochReport& report, std::int64_t steps,
                const std::vector<ParameterValues>& parameters) override;

  /// Writes a checkpoint.
  /// @param epoch, steps the number completed so far.
  void save(std::int64_t epoch, std::int64_t steps,
            const std::vector<ParameterValues>& parameters) const;

  /// Prints which epoch was best, and which files have been saved.
  void conclude() const;

  /// Adds epochs and steps.
  void add_to(Report& report) const;

  /// Those that have been run.
  const std::vector<EpochReport>& epochs() const { return epochs_; }

 private:
  void save_to(const std::filesystem::path& file, std::int64_t epoch, std::int64_t steps,
               const std::vector<ParameterValues>& parameters) const;

  /// Says so if the first epoch has led away from the goal.
  void warn_of_rate(const EpochReport& report,
                    const std::vector<ParameterValues>& parameters) const;

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
  TrainingLog log_;
  std::optional<BestEpoch> best_;
  bool saved_best_ = false;  ///< whether an epoch of this run went to --save-best
};

/// Prints the list of the program's lines, with the time that each has taken.
void print_timings(const std::vector<Timing>& timings);

/// The same for the report.
std::vector<TimingReport> timing_reports(const std::vector<Timing>& timings);

}  // namespace stagewise

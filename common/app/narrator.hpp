/// @file
/// What a training run prints and writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "app/progress.hpp"
#include "training/trainer.hpp"

namespace stagewise {

/// Prints one line per epoch, saves checkpoints, collects the report.
class Narrator final : public TrainingObserver {
 public:
  /// @param options, step must outlive this.
  /// @param writes whether checkpoints are written; otherwise this rank only takes part in
  ///        gathering them.
  Narrator(const RunOptions& options, const Dataset& training_set, const Step& step,
           std::int64_t first_epoch, bool writes);

  void on_step(std::int64_t epoch, Index samples) override { progress_.show(epoch, samples); }
  void on_epoch(const EpochReport& report, std::int64_t steps,
                const std::vector<ParameterValues>& parameters) override;

  /// Writes a checkpoint.
  /// @param epoch, steps the number completed so far.
  void save(std::int64_t epoch, std::int64_t steps,
            const std::vector<ParameterValues>& parameters) const;

  /// Those that have been run.
  const std::vector<EpochReport>& epochs() const { return epochs_; }

 private:
  const RunOptions* options_;
  const Step* step_;
  bool writes_;
  std::string unit_;
  ProgressBar progress_;
  std::vector<EpochReport> epochs_;
};

/// Prints the list of the program's lines, with the time that each has taken.
void print_timings(const std::vector<Timing>& timings);

/// The same for the report.
std::vector<TimingReport> timing_reports(const std::vector<Timing>& timings);

}  // namespace stagewise

/// @file
/// The table of `train --csv`.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "io/checkpoint.hpp"
#include "io/report.hpp"

namespace stagewise {

/// A row for each step that is reported, or else for each epoch. Rows are appended when their epoch
/// has ended: whoever kills the training finds whole rows of whole epochs.
class TrainingLog {
 public:
  /// Writes nothing yet, so that a training that fails before its first epoch changes no file.
  /// @param path of the file; empty: no rows are written.
  /// @param resumed the checkpoint of a training that goes on; null for one that begins. An
  ///        existing file keeps its rows up to there; without a checkpoint, it is replaced.
  /// @param source names the checkpoint in messages: "the checkpoint a.h5".
  /// @throws Error if there are rows that are not those of the training that goes on.
  TrainingLog(std::filesystem::path path, const Checkpoint* resumed, const std::string& source);

  /// Adds an epoch.
  /// @param rows at least one, of which the last gets what the epoch's validation says.
  /// @throws Error if they cannot be written; the rows before are still there.
  void add(const EpochReport& epoch, std::span<const StepReport> rows);

 private:
  std::filesystem::path path_;
  std::string beginning_;  ///< the columns' names, and rows from before
  bool is_begun_ = false;
};

}  // namespace stagewise

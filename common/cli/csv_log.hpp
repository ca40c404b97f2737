/// @file
/// The table of `train --csv`.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "io/checkpoint.hpp"
#include "io/report.hpp"

namespace stagewise {

/// A row for each step that is reported, or else for each epoch. Rows are appended at the end of
/// their epoch, so a training that is killed leaves whole epochs; if it was killed while appending,
/// the beginning of the next may follow, and end within a row.
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

}  // namespace stagewise

/// @file
/// From command-line options to data that are ready for training.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "io/data_sets/catalog.hpp"

namespace stagewise {

/// The three parts of a data set; `validation` is empty unless asked for.
struct Split {
  Dataset train;
  Dataset validation;
  Dataset test;
  /// How a table became numbers; all three parts are standardized with it. Empty for other formats.
  std::optional<TableEncoding> encoding;
  Index first_test_row = 0;  ///< where `test` begins in a single file that was split
  /// Of the remaining training samples; empty if another process has them.
  std::optional<Fingerprint> fingerprint;
  /// What the user should know about the data, one sentence each.
  std::vector<std::string> notes = {};
};

/// Loads or generates the data for training, applies limits, and holds out validation samples. A
/// data set in a single file is split: its last fifth is the test set. The features of a table are
/// standardized with the mean and deviation of the remaining training samples.
/// @pre limits are at least 1, and `validation` is not negative.
/// @throws UsageError for an unknown name, format or column, or for a limit that the data cannot
///         meet; Error for missing or invalid files, or for values that the precision cannot
///         represent.
Split load_for_training(const DatasetOptions& options);

/// Samples to evaluate or predict.
struct Unseen {
  Dataset samples;
  bool has_labels = true;  ///< whether their classes mean something
};

/// Loads or generates samples that were not trained on: the test set, or all of a data set in a
/// single file. Unless the options need labels, files in the formats idx, csv and hdf5 may have
/// none; then all samples have class 0.
/// @param encoding that of the table on which the network was trained, as load_for_training()
///        returned it; ignored if the data are not a table. Without it, a table is standardized
///        with its own mean and deviation, which does not suit a network that was trained on
///        another.
/// @throws as load_for_training().
Unseen load_unseen(const DatasetOptions& options, const std::optional<TableEncoding>& encoding = {});

}  // namespace stagewise

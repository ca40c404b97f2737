/// @file
/// From the options of the command line to data ready for training.
#pragma once

#include <optional>

#include "data/dataset.hpp"
#include "data/fingerprint.hpp"
#include "io/data_sets/csv.hpp"
#include "io/data_sets/dataset_options.hpp"

namespace stagewise {

/// The three parts of a data set; `validation` is empty unless asked for.
struct Split {
  Dataset train;
  Dataset validation;
  Dataset test;
  /// How a table became numbers; the three parts are standardized with it. Empty for other formats.
  std::optional<TableEncoding> encoding;
  Index first_test_row = 0;  ///< of a single file that has been split: where `test` begins
  /// Of what is left for training; empty where another process holds it.
  std::optional<Fingerprint> fingerprint;
};

/// Loads or generates the data for training: limits applied, validation samples held out. A set
/// that comes in a single file is split, its last fifth being the test set. The features of a table
/// are standardized with mean and deviation of the samples that are left for training.
/// @throws UsageError for an unknown name, format or column or a limit the data cannot meet; Error
///         for files that are missing or wrong, or values that the precision cannot hold.
Split load_for_training(const DatasetOptions& options);

/// Loads or generates the data for evaluation: the test set; all of a single-file set.
/// @param encoding of the table that the network was trained on, as load_for_training() returned
///        it; ignored if the data are not a table. Without, a table is standardized with its own
///        mean and deviation, which suits no network that was trained on another.
/// @throws as load_for_training().
Dataset load_for_evaluation(const DatasetOptions& options,
                            const std::optional<TableEncoding>& encoding = {});

}  // namespace stagewise

/// @file
/// From the options of the command line to data ready for training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/csv.hpp"
#include "data/dataset.hpp"
#include "data/fingerprint.hpp"
#include "data/generators.hpp"

namespace stagewise {

/// What `--dataset` and its companions say.
struct DatasetOptions {
  std::string name = "digits";  ///< a known name, or a path if `format` is given
  std::string format;           ///< empty for a known name
  std::string data_dir;         ///< empty: STAGEWISE_DATA_DIR, else "datasets"
  std::optional<Index> train_limit;
  std::optional<Index> test_limit;
  Index validation = 0;
  std::string label;                 ///< the column of a CSV file that holds the class
  GaussianOptions gaussian;          ///< used if `name` is "gaussian"
  std::string precision = "double";  ///< that must hold all values: "float" or "double"
};

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

/// The names that `--dataset` accepts, in the order in which help texts list them.
const std::vector<std::string>& dataset_names();

/// The formats that `--format` accepts.
const std::vector<std::string>& format_names();

/// Whether the data set is one file, of which training holds a part out for the test.
/// @throws UsageError for an unknown name or format.
bool is_single_file(const DatasetOptions& options);

/// Whether the data set is a table, so that a column must be named as its label.
/// @throws UsageError for an unknown name or format.
bool is_table(const DatasetOptions& options);

/// The files that the data set is read from, for training and for evaluation; for each also the one
/// with the other ending, ".gz" or none, which would be read if it were there. Empty for generated
/// data.
/// @throws UsageError for an unknown name or format; Error for an IDX file without a name that says
///         where its labels are.
std::vector<std::filesystem::path> files_of(const DatasetOptions& options);

/// Whether it is read from the folder that `data_dir` names: not if it is generated or a path.
/// @throws UsageError for an unknown name.
bool is_in_data_folder(const DatasetOptions& options);

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

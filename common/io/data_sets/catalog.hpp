/// @file
/// The data sets that have names, and the file formats: which there are, and how each is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/generators.hpp"
#include "io/data_sets/formats.hpp"

namespace stagewise {

/// The values of `--dataset` and the related options.
struct DatasetOptions {
  std::string name = "digits";       ///< a known name, or a path if `format` is given
  std::string format;                ///< empty for a known name
  std::string data_dir;              ///< empty: STAGEWISE_DATA_DIR, else "datasets"
  std::optional<Index> train_limit;  ///< at least 1
  std::optional<Index> test_limit;   ///< likewise
  Index validation = 0;              ///< not negative
  std::string label;                 ///< the column of a CSV file that holds the class
  Hdf5Names hdf5;                    ///< used if `format` is hdf5
  GaussianOptions gaussian;          ///< used if `name` is "gaussian"
  bool needs_labels = true;          ///< whether a file without labels is refused
  std::string precision = "double";  ///< in which all values must be finite: "float" or "double"
};

/// The names that `--dataset` accepts, in the order in which help texts list them.
std::vector<std::string> dataset_names();

/// What the classes of the data set with this name are called; empty if they are just numbers, or
/// named in its file.
std::vector<std::string> class_names_of(const std::string& dataset);

/// The formats that `--format` accepts.
std::vector<std::string> format_names();

/// Whether the data set is a single file, of which training holds out a part for the test.
/// @throws UsageError for an unknown name or format.
bool is_single_file(const DatasetOptions& options);

/// Whether the data set is a table, so that one column must be named as the label.
/// @throws UsageError for an unknown name or format.
bool is_table(const DatasetOptions& options);

/// Whether it is an HDF5 file, whose data sets may have other names than x and y.
/// @throws UsageError for an unknown name or format.
bool is_hdf5(const DatasetOptions& options);

/// The files that the data set is read from, for training and for evaluation, and for each also the
/// one with the other ending (".gz" or none), which would be read if it existed. Empty for
/// generated data.
/// @throws UsageError for an unknown name or format; Error for an IDX file whose name does not tell
///         where its labels are.
std::vector<std::filesystem::path> files_of(const DatasetOptions& options);

/// Whether it is read from the folder that `data_dir` names, that is, neither generated nor a path.
/// @throws UsageError for an unknown name.
bool is_in_data_folder(const DatasetOptions& options);

/// Which samples of a data set are meant.
enum class Subset : std::uint8_t { training, test };

/// How many samples an option allows.
struct Limit {
  std::optional<Index> count;  ///< empty: all
  std::string option;          ///< "train-limit"
  std::string samples;         ///< "training sample"
  std::string set;             ///< "mnist"

  /// How many of the available samples to use.
  /// @throws UsageError if the option asks for more.
  Index of(Index available) const;

  /// The samples to use.
  /// @throws UsageError if the option asks for more.
  Dataset of(Dataset all) const;
};

/// The contents of a single file; a table is not standardized yet.
struct SingleFile {
  Dataset dataset;
  std::optional<TableEncoding> encoding;  ///< of a table
  bool has_labels = true;                 ///< whether the samples' classes mean something
  std::string note = {};                  ///< what the user should know about how it was read
};

/// Reads the single file that the options mean; empty if the data set is not one.
/// @param known if given, a table must match it. Labels may be missing if the options say so.
/// @throws UsageError for an unknown name or format, or for a label if the data set is not a table;
///         Error if the file is missing or invalid.
std::optional<SingleFile> read_single_file(const DatasetOptions& options, const TableEncoding* known);

/// Loads or generates a subset of a data set that is not a single file.
/// @throws UsageError for a limit that it cannot meet; Error for missing or invalid files.
Dataset load_subset(const DatasetOptions& options, Subset subset, const Limit& limit);

}  // namespace stagewise

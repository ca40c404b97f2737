/// @file
/// The data sets that have a name, and the formats of files: which there are, and how each is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "io/data_sets/csv.hpp"
#include "io/data_sets/dataset_options.hpp"

namespace stagewise {

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

/// Which samples of a data set are meant.
enum class Subset : std::uint8_t { training, test };

/// How many samples an option lets through.
struct Limit {
  std::optional<Index> count;  ///< empty: all
  std::string option;          ///< "--train-limit"
  std::string samples;         ///< "training sample"
  std::string set;             ///< "mnist"

  /// The number of samples to use of those that are there.
  /// @throws UsageError if the option asks for more.
  Index of(Index available) const;

  /// The samples to use.
  /// @throws as above.
  Dataset of(Dataset all) const;
};

/// What a single file holds; a table is not standardized yet.
struct SingleFile {
  Dataset dataset;
  std::optional<TableEncoding> encoding;  ///< of a table
};

/// Reads a file; a table must be as `known`, if that is not null.
using ReadFile = SingleFile (*)(const std::filesystem::path& path, const DatasetOptions& options,
                                const TableEncoding* known);

/// The one file that a data set is made of.
struct FileToRead {
  std::filesystem::path path;
  ReadFile read = nullptr;  ///< null if the data set is not made of one
};

/// The one file that the options mean, if it is one.
/// @throws UsageError for an unknown name or format, or a label of what is no table; Error if a
///         data set with a name needs the file and it is not there.
FileToRead file_to_read(const DatasetOptions& options);

/// Loads or generates a subset of a data set that is not a single file.
/// @throws UsageError for a limit that it cannot meet; Error for files that are missing or wrong.
Dataset load_subset(const DatasetOptions& options, Subset subset, const Limit& limit);

}  // namespace stagewise

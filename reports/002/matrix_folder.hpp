/// @file
/// A network's parameters as a folder of matrix files, in the format of report 002's program.
///
/// There is one file per parameter. `fc1/weight` is `w1.data` and `fc1/bias` is `b1.data`, the
/// names in report 002's program; in other names, slashes become underscores: `conv1/filter` is
/// `conv1_filter.data`. A bias is a matrix of one row. Everything else has a row for each output:
/// the last dimension is the height, all others, row-major, the width.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/checkpoint.hpp"

namespace stagewise {

/// The name of a parameter's file.
/// @throws Error for a parameter whose name does not follow from the file's: one with an
///         underscore, or one with the name of another's file (`w1`).
std::string matrix_name(const std::string& parameter);

/// What has been written to a file or read from it.
struct ExchangedMatrix {
  std::string file;       ///< "w1.data"
  std::string parameter;  ///< "fc1/weight"
  Shape shape;            ///< of the file's matrix
};

/// Writes a file for each parameter, rounded to float. Creates the folder if it does not exist.
/// @param source the checkpoint's file.
/// @throws Error, before anything is written, if a value does not fit into a float, a file cannot
///         be written or is the checkpoint or another of these by a link, or the folder holds a
///         file "*.data" that is none of these: read back, it would pass for a parameter.
std::vector<ExchangedMatrix> export_matrices(const std::filesystem::path& folder,
                                             const Checkpoint& checkpoint,
                                             const std::filesystem::path& source);

/// Replaces all parameters by those in the folder; everything else stays. Drops the workers' own
/// parameters, which belonged to the old ones.
/// @param source the checkpoint's file, for error messages.
/// @throws Error, `checkpoint` being as before, unless the folder has exactly the parameters of the
///         checkpoint, in their shapes.
std::vector<ExchangedMatrix> import_matrices(const std::filesystem::path& folder,
                                             Checkpoint& checkpoint,
                                             const std::filesystem::path& source);

/// A checkpoint made only from the folder: the matrices w1, w2, ... are the layers of an mlp, with
/// relus between them and cross-entropy as the loss, as in report 002.
/// @throws Error naming the file that does not fit.
Checkpoint mlp_from_matrices(const std::filesystem::path& folder,
                             std::vector<ExchangedMatrix>& matrices);

}  // namespace stagewise

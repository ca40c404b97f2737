/// @file
/// A network's parameters as a folder of matrix files, as report 002's program keeps them.
///
/// A file a parameter. `fc1/weight` is `w1.data` and `fc1/bias` is `b1.data`, which are the names
/// that the program has; of any other parameter the slashes become underscores: `conv1/filter` is
/// `conv1_filter.data`. A bias is a matrix of one row. Everything else has a row for each output:
/// the last dimension is the height, all others, row-major, the width.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/checkpoint.hpp"

namespace stagewise {

/// The name of a parameter's file.
/// @throws Error for a parameter whose name could not be told from the file's: one with an
///         underscore, or one that is called like a file of another (`w1`).
std::string matrix_name(const std::string& parameter);

/// What has been written to a file or read from it.
struct ExchangedMatrix {
  std::string file;       ///< "w1.data"
  std::string parameter;  ///< "fc1/weight"
  Shape shape;            ///< of the file's matrix
};

/// Writes a file for each parameter, rounded to float. The folder is made if it is not there.
/// @param source the checkpoint's file.
/// @throws Error, before anything is written, if a value does not fit into a float, a file cannot
///         be written or is the checkpoint or another of these by a link, or the folder holds a
///         file "*.data" that is none of these: read back, it would pass for a parameter.
std::vector<ExchangedMatrix> export_matrices(const std::filesystem::path& folder,
                                             const Checkpoint& checkpoint,
                                             const std::filesystem::path& source);

/// Replaces all parameters by those in the folder; everything else stays. Those of workers go,
/// since they belonged to the old ones.
/// @param source the checkpoint's file, for the errors' sentences.
/// @throws Error, `checkpoint` being as before, unless the folder has exactly the parameters of the
///         checkpoint, in their shapes.
std::vector<ExchangedMatrix> import_matrices(const std::filesystem::path& folder,
                                             Checkpoint& checkpoint,
                                             const std::filesystem::path& source);

/// A checkpoint made of nothing but the folder: the matrices w1, w2, ... follow one another as the
/// layers of an mlp do, with relus between them and cross-entropy behind, as in report 002.
/// @throws Error naming the file that does not fit.
Checkpoint mlp_from_matrices(const std::filesystem::path& folder,
                             std::vector<ExchangedMatrix>& matrices);

}  // namespace stagewise

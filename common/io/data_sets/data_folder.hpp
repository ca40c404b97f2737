/// @file
/// Where the files of a data set are.
#pragma once

#include <filesystem>
#include <string>

#include "io/data_sets/dataset_options.hpp"
#include "tensor/error.hpp"

namespace stagewise {

/// The folder that holds a folder for each data set with a name: the one that the options name,
/// else the environment variable STAGEWISE_DATA_DIR, else "datasets".
std::filesystem::path data_folder(const DatasetOptions& options);

/// Whether there is such a file. False also for what cannot be looked at; reading it then says why.
bool is_there(const std::filesystem::path& path);

/// The same file with the other of the two endings: without ".gz" or with it.
std::filesystem::path with_other_ending(const std::filesystem::path& path);

/// `path` itself, or, if only that is there, the same file with the other of the two endings.
std::filesystem::path with_or_without_gz(const std::filesystem::path& path);

/// Where a file of a data set that has a folder of its own in the data folder should be.
std::filesystem::path place_of(const DatasetOptions& options, const std::string& name);

/// Where it is, with or without ".gz".
/// @throws Error as missing_file().
std::filesystem::path find_file(const DatasetOptions& options, const std::string& name);

/// The error to throw where a file of a data set is not there.
Error missing_file(const DatasetOptions& options, const std::filesystem::path& path);

}  // namespace stagewise

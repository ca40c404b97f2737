/// @file
/// Where the files of a data set are.
#pragma once

#include <filesystem>
#include <string>

#include "io/data_sets/dataset_options.hpp"
#include "tensor/error.hpp"

namespace stagewise {

/// The folder that contains a folder for each named data set: the one that the options name,
/// otherwise the environment variable STAGEWISE_DATA_DIR, otherwise "datasets".
std::filesystem::path data_folder(const DatasetOptions& options);

/// Whether the file exists. Also false if that cannot be determined; reading it then says why.
bool is_there(const std::filesystem::path& path);

/// The path with the other ending: without ".gz" or with it.
std::filesystem::path with_other_ending(const std::filesystem::path& path);

/// `path` itself, or, if only that file exists, the path with the other ending.
std::filesystem::path with_or_without_gz(const std::filesystem::path& path);

/// Where a file of a data set with its own folder in the data folder should be.
std::filesystem::path place_of(const DatasetOptions& options, const std::string& name);

/// Where that file is, with or without ".gz".
/// @throws Error as missing_file().
std::filesystem::path find_file(const DatasetOptions& options, const std::string& name);

/// The error to throw if a file of a data set is missing.
Error missing_file(const DatasetOptions& options, const std::filesystem::path& path);

}  // namespace stagewise

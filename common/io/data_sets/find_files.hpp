/// @file
/// Which files there are: with or without ".gz", and of IDX under the names that archives use.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace stagewise {

/// Whether a file or a folder exists. Reading it says why not.
bool is_there(const std::filesystem::path& path);
/// The path with the other ending: without ".gz" or with it.
std::filesystem::path with_other_ending(const std::filesystem::path& path);
/// `path` itself, or, if only that file exists, the path with the other ending.
std::filesystem::path with_or_without_gz(const std::filesystem::path& path);
/// "; its folder has a, b, c", or nothing.
std::string what_is_in(const std::filesystem::path& folder);

/// The IDX file, or if it is not there, the one in its folder that has such a name.
/// @param is_such of a name without what differs from archive to archive: "letters-train-images" of
/// "letters-train-images.idx3-ubyte.gz". It must be the same of all files that have one.
std::filesystem::path idx_file_like(const std::filesystem::path& file,
                                    const std::function<bool(const std::string&)>& is_such);
/// The labels that belong to images.
/// @throws Error if the images are a folder.
std::filesystem::path labels_of(const std::filesystem::path& images);

}  // namespace stagewise

/// @file
/// What may be opened for reading.
#pragma once

#include <filesystem>
#include <string>

namespace stagewise {

/// Why the path must not be opened for reading: there is nothing, or it is not a regular file. A
/// pipe, a socket or a device may never deliver a byte, or never stop.
/// @return for a sentence: "it is a folder, not a file"; empty if it may be opened.
std::string objection_to_reading(const std::filesystem::path& path);

}  // namespace stagewise

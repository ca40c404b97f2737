/// @file
/// Writing files so that nothing is lost.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace stagewise {

/// Checks that write_file() will be able to write to `path`: that it is a regular file or absent,
/// and that a file can be created beside it. Meant to be called before hours of training, not
/// after.
/// @param what the file's role for the error's sentence: "checkpoint", "report".
/// @throws Error naming the path and the reason.
void check_writable(const std::filesystem::path& path, std::string_view what);

/// Replaces the file at `path` as a whole: writes to `path` + ".partial", flushes it to the disk
/// and renames it. Whoever reads `path`, also after a crash at any moment, finds either the old
/// contents or the new.
/// @throws Error naming the path and the reason; the old file is then untouched.
void write_file(const std::filesystem::path& path, std::span<const std::byte> contents,
                std::string_view what);

}  // namespace stagewise

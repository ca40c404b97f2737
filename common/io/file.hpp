/// @file
/// Writing files so that nothing is lost, and what may be opened for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace stagewise {

/// A file that takes its place only when it is complete. A reader of `path`, even after a crash at
/// any moment, finds either the old contents or the new. If several are written to one place at the
/// same time, the last to be published wins.
///
/// Until then the contents are beside it in a file with a unique name, ".NAME.xxxxxx.partial". Only
/// a process that is ended by a signal while it writes can leave it there. The new file takes over
/// the permissions and, where the system allows, the owner and group of the one that it replaces.
class NewFile {
 public:
  /// Makes sure that `path` is a regular file that may be written to, or absent, and creates the
  /// file beside it. A link is followed: what it leads to is replaced.
  /// @param what the file's role, for error messages: "checkpoint", "report".
  /// @throws Error naming the path and the reason.
  NewFile(const std::filesystem::path& path, std::string_view what);

  /// Removes what has not been published.
  ~NewFile();

  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Adds to the contents.
  /// @throws Error naming the path and the reason, such as a full disk.
  void write(std::span<const std::byte> bytes);

  /// Waits until all of it is on the disk. To publish several files, complete all of them first.
  /// @throws Error naming the path and the reason.
  void complete();

  /// Completes the file and puts it in its place.
  /// @throws Error naming the path and the reason; what was there before is then untouched.
  void publish();

 private:
  std::filesystem::path path_;
  std::string what_;
  std::filesystem::path target_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
};

/// Checks that write_file() will be able to write to `path`. Meant to be called before hours of
/// training, not after. Disturbs nothing.
/// @throws Error naming the path and the reason.
void check_writable(const std::filesystem::path& path, std::string_view what);

/// Replaces the file at `path` as a whole; see NewFile.
/// @throws Error naming the path and the reason; the old file is then untouched.
void write_file(const std::filesystem::path& path, std::span<const std::byte> contents, std::string_view what);

/// Appends to a file: all of it or, if the disk is full, nothing. Meant for files that grow by many
/// small parts, for each of which replacing the whole file would take too long. The last parts can
/// be lost if the machine crashes, but not if the process is killed; killed while appending, it may
/// leave the beginning of a part.
/// @throws Error naming the path and the reason.
void append_to_file(const std::filesystem::path& path, std::span<const std::byte> contents, std::string_view what);

/// Why the path must not be opened for reading: there is nothing, or it is not a regular file. A
/// pipe, a socket or a device may never deliver a byte, or never stop.
/// @return for a sentence: "it is a folder, not a file"; empty if it may be opened.
std::string objection_to_reading(const std::filesystem::path& path);

/// Whether writing to one path would change what is read at the other: by the same name, through
/// links of either kind, or, for files that do not exist yet, because both names lead to one place.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace stagewise

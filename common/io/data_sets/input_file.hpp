/// @file
/// Reading files that may or may not be compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace stagewise {

/// A file that is read from beginning to end. Its first bytes, not its name, decide whether it is
/// gzip-compressed, and the reader sees the same bytes either way. zlib's own gzread() would do,
/// except that it silently ignores whatever follows the compressed data.
class InputFile {
 public:
  /// @throws Error naming the file if it is missing, a folder, not readable or empty.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The next `count` bytes, fewer only at the end of the file. Memory grows only with what the
  /// file really contains, so a wrong `count` from a damaged header costs nothing.
  /// @throws Error naming the file if it cannot be read, or if its compressed data are damaged,
  ///         truncated or followed by something else.
  std::vector<std::uint8_t> read(std::uint64_t count);

  /// Whether there is nothing left to read.
  /// @throws Error as read() does: damage is detected at the end of the compressed data at the
  /// latest.
  bool at_end();

  const std::filesystem::path& path() const { return path_; }

 private:
  class Source;
  class PlainSource;
  class GzipSource;

  bool fill();

  std::filesystem::path path_;
  std::unique_ptr<Source> source_;
  std::vector<std::uint8_t> buffer_;  ///< bytes the source delivered
  std::size_t used_ = 0;              ///< how many of them have been returned
};

}  // namespace stagewise

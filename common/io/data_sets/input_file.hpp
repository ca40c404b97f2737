/// @file
/// Reading files that may or may not be compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace stagewise {

/// A file being read from its beginning to its end. Whether it is gzip-compressed is told from its
/// first bytes, not from its name, and the reader sees the same bytes either way. zlib's own
/// gzread() would do, did it not pass over what follows the compressed data in silence.
class InputFile {
 public:
  /// @throws Error naming the file if it is missing, a folder, not readable or empty.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The next `count` bytes, fewer only where the file ends. Memory grows with what the file really
  /// holds, so that a wrong `count` from a damaged header costs nothing.
  /// @throws Error naming the file if it cannot be read, or its compressed data are damaged, cut
  ///         short or followed by something else.
  std::vector<std::uint8_t> read(std::uint64_t count);

  /// Whether there is nothing left to read.
  /// @throws as read(): damage shows at the latest where the compressed data end.
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
  std::size_t used_ = 0;              ///< how many of them have been handed on
};

}  // namespace stagewise

/// @file
/// Reading files that may or may not be compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/error.hpp"

namespace stagewise {

/// A file that is read from beginning to end. Its first bytes, not its name, decide whether it is
/// gzip-compressed, and the reader sees the same bytes either way. zlib's own gzread() would do,
/// except that it silently ignores whatever follows the compressed data.
class InputFile {
 public:
  /// @throws Error naming the file if it is missing, a folder, not readable, empty, or of a kind that none of our
  /// readers
  ///         reads.
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

  /// What peek() and get() return at the end of the file.
  static constexpr int end = -1;

  /// The next byte, which is still to be read.
  int peek();

  /// The next byte.
  int get();

  /// What comes next, as far as it is in memory: the rest of a block, at the beginning of the file a whole one.
  std::string_view preview();

  /// Passes over these bytes at the beginning of the file, if they are there.
  void skip(std::string_view bytes);

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Gzip;

  Error failure(const std::string& why) const;
  bool fill();
  void read_block(std::vector<std::uint8_t>& block);
  void inflate_block();

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::unique_ptr<Gzip> gzip_;        ///< null: the file is not compressed
  std::vector<std::uint8_t> buffer_;  ///< a block of the contents
  std::size_t used_ = 0;              ///< how many of them have been returned
};

}  // namespace stagewise

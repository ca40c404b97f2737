#include "io/data_sets/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <zlib.h>

#include "io/regular_file.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;

std::string last_system_error() {
  return std::generic_category().message(errno);
}

std::string cannot_read(const std::filesystem::path& path, const std::string& why) {
  return "cannot read " + path.string() + ": " + why;
}

}  // namespace

/// Delivers a file's bytes block by block.
class InputFile::Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Replaces `block` by the next bytes, at most `block_bytes`; by none at the end.
  virtual void next(std::vector<std::uint8_t>& block) = 0;
};

/// The bytes as they are.
class InputFile::PlainSource final : public Source {
 public:
  explicit PlainSource(const std::filesystem::path& path)
      : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) throw Error(cannot_read(path, last_system_error()));
  }

  void next(std::vector<std::uint8_t>& block) override {
    block.resize(block_bytes);
    errno = 0;
    block.resize(std::fread(block.data(), 1, block_bytes, file_.get()));
    if (std::ferror(file_.get()) != 0) throw Error(cannot_read(path_, last_system_error()));
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The bytes that another source's bytes stand for. Several compressed parts may follow one
/// another; the gzip format allows that.
class InputFile::GzipSource final : public Source {
 public:
  /// @param first the block of `compressed` that has been read already.
  GzipSource(std::filesystem::path path, std::unique_ptr<Source> compressed,
             std::vector<std::uint8_t> first)
      : path_(std::move(path)), compressed_(std::move(compressed)), input_(std::move(first)) {
    constexpr int gzip_only = 16;  // added to the window's size: a gzip header must be there
    if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
    feed();
  }

  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  void next(std::vector<std::uint8_t>& block) override {
    block.resize(block_bytes);
    stream_.next_out = block.data();
    stream_.avail_out = static_cast<uInt>(block_bytes);
    while (stream_.avail_out > 0 && have_input()) {
      if (between_parts_) {
        check_part_begins();
        inflateReset(&stream_);
        between_parts_ = false;
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status == Z_STREAM_END) {
        between_parts_ = true;
      } else if (status != Z_OK) {
        const std::string detail = stream_.msg != nullptr ? stream_.msg : "no data expected here";
        throw Error(cannot_read(path_, "its gzip-compressed data are damaged (" + detail + ")"));
      }
    }
    block.resize(block_bytes - stream_.avail_out);
  }

 private:
  void feed() {
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(input_.size());
  }

  /// Makes sure that inflate() has bytes to work on; false at the proper end of the data.
  bool have_input() {
    if (stream_.avail_in > 0) return true;
    compressed_->next(input_);
    feed();
    if (!input_.empty()) return true;
    if (between_parts_) return false;
    throw Error(cannot_read(path_, "its gzip-compressed data are cut short"));
  }

  void check_part_begins() const {
    constexpr int gzip_first_byte = 0x1f;
    if (*stream_.next_in != gzip_first_byte) {
      throw Error(cannot_read(path_, "its gzip-compressed data are followed by something else"));
    }
  }

  std::filesystem::path path_;
  std::unique_ptr<Source> compressed_;
  std::vector<std::uint8_t> input_;
  z_stream stream_{};
  bool between_parts_ = false;
};

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  if (const std::string objection = objection_to_reading(path); !objection.empty()) {
    throw Error(cannot_read(path, objection));
  }
  source_ = std::make_unique<PlainSource>(path);
  if (!fill()) throw Error(cannot_read(path, "the file is empty"));
  if (buffer_.size() >= 2 && buffer_[0] == 0x1f && buffer_[1] == 0x8b) {
    source_ = std::make_unique<GzipSource>(path, std::move(source_), std::move(buffer_));
    buffer_.clear();
  }
}

InputFile::~InputFile() = default;

std::vector<std::uint8_t> InputFile::read(std::uint64_t count) {
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < count && !at_end()) {
    const std::uint64_t wanted = count - bytes.size();
    const std::size_t taken = std::min<std::uint64_t>(wanted, buffer_.size() - used_);
    const auto from = buffer_.begin() + static_cast<std::ptrdiff_t>(used_);
    bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(taken));
    used_ += taken;
  }
  return bytes;
}

bool InputFile::at_end() {
  return used_ == buffer_.size() && !fill();
}

bool InputFile::fill() {
  source_->next(buffer_);
  used_ = 0;
  return !buffer_.empty();
}

}  // namespace stagewise

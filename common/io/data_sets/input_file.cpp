#include "io/data_sets/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <zlib.h>

#include "io/file.hpp"
#include "io/foreign.hpp"

namespace stagewise {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;
constexpr int gzip_first_byte = 0x1f;

}  // namespace

/// Where the decompression of a file stands. Several compressed parts may follow one another; the
/// gzip format allows that.
struct InputFile::Gzip {
  /// @param first the block of the file that has been read already.
  explicit Gzip(std::vector<std::uint8_t> first) : input(std::move(first)) {
    constexpr int gzip_only = 16;  // added to the window's size: a gzip header must be there
    if (inflateInit2(&stream, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
    feed();
  }
  ~Gzip() { inflateEnd(&stream); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  void feed() {
    stream.next_in = input.data();
    stream.avail_in = static_cast<uInt>(input.size());
  }

  std::vector<std::uint8_t> input;
  z_stream stream{};
  bool between_parts = false;
};

InputFile::InputFile(const std::filesystem::path& path) : path_(path), file_(nullptr, std::fclose) {
  const std::string objection = objection_to_reading(path);
  if (!objection.empty()) throw failure(objection);
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (!file_) throw failure(std::strerror(errno));
  if (!fill()) throw failure("the file is empty");
  if (buffer_.size() >= 2 && buffer_[0] == gzip_first_byte && buffer_[1] == 0x8b) {
    gzip_ = std::make_unique<Gzip>(std::exchange(buffer_, {}));
  }
  const std::string kind = foreign_kind(preview());
  if (!kind.empty()) throw failure(kind);
}

InputFile::~InputFile() = default;

Error InputFile::failure(const std::string& why) const { return Error("cannot read " + path_.string() + ": " + why); }

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

bool InputFile::at_end() { return used_ == buffer_.size() && !fill(); }

int InputFile::peek() { return at_end() ? end : buffer_[used_]; }

int InputFile::get() {
  const int byte = peek();
  if (byte != end) ++used_;
  return byte;
}

std::string_view InputFile::preview() {
  if (at_end()) return {};
  // NOLINTNEXTLINE(*-reinterpret-cast): bytes as characters
  return {reinterpret_cast<const char*>(buffer_.data()) + used_, buffer_.size() - used_};
}

void InputFile::skip(std::string_view bytes) {
  if (preview().starts_with(bytes)) used_ += bytes.size();
}

bool InputFile::fill() {
  if (gzip_) {
    inflate_block();
  } else {
    read_block(buffer_);
  }
  used_ = 0;
  return !buffer_.empty();
}

void InputFile::read_block(std::vector<std::uint8_t>& block) {
  block.resize(block_bytes);
  errno = 0;
  block.resize(std::fread(block.data(), 1, block_bytes, file_.get()));
  if (std::ferror(file_.get()) != 0) throw failure(std::strerror(errno));
}

void InputFile::inflate_block() {
  z_stream& stream = gzip_->stream;
  buffer_.resize(block_bytes);
  stream.next_out = buffer_.data();
  stream.avail_out = static_cast<uInt>(block_bytes);
  while (stream.avail_out > 0) {
    if (stream.avail_in == 0) {
      read_block(gzip_->input);
      gzip_->feed();
    }
    if (stream.avail_in == 0 && gzip_->between_parts) break;
    if (stream.avail_in == 0) throw failure("its gzip-compressed data are cut short");
    if (gzip_->between_parts) {
      if (*stream.next_in != gzip_first_byte) {
        throw failure("its gzip-compressed data are followed by something else");
      }
      inflateReset(&stream);
    }
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    gzip_->between_parts = status == Z_STREAM_END;
    if (status != Z_OK && status != Z_STREAM_END) {
      const std::string detail = stream.msg != nullptr ? stream.msg : "no data expected here";
      throw failure("its gzip-compressed data are damaged (" + detail + ")");
    }
  }
  buffer_.resize(block_bytes - stream.avail_out);
}

}  // namespace stagewise

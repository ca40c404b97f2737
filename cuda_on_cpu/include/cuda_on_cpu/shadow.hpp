/// @file
/// Shadow memory: what is known about each piece of memory that kernels access. words.hpp keeps it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "cuda_on_cpu/happens_before.hpp"

namespace cuda_on_cpu {

/// An access as it is remembered.
struct Record {
  static constexpr std::uint32_t writes = 1;
  static constexpr std::uint32_t is_atomic = 2;
  static constexpr std::uint32_t is_volatile = 4;
  static constexpr std::uint32_t is_strong = is_atomic | is_volatile;

  Time time = 0;  ///< 0 for none
  ThreadNumber thread = 0;
  std::uint32_t what = 0;  ///< the flags above, and the instruction

  bool exists() const { return time != 0; }
  /// Whether one of the flags is set.
  bool has(std::uint32_t flag) const { return (what & flag) != 0; }
};

/// What is remembered of a word or a byte. Of accesses that are ordered before a later one, that
/// later one is enough.
struct Cell {
  Record write;      ///< the last one
  Record others[2];  ///< reads since then; a write of the thread's own before its atomic one
  Time released;     ///< what atomic operations here have made known
};

/// Frees what calloc() has given, whose pages are not there until they are touched.
struct Free {
  void operator()(void* memory) const {
    std::free(memory);  // NOLINT(*-no-malloc): see above
  }
};
/// Memory that is zero, and takes none until it is written.
template <class T>
std::unique_ptr<T[], Free> zeros(std::size_t count) {
  // NOLINTNEXTLINE(*-no-malloc): see above
  return std::unique_ptr<T[], Free>(static_cast<T*>(std::calloc(count, sizeof(T))));
}

/// Which bytes of an allocation have been written.
class WrittenBytes {
 public:
  explicit WrittenBytes(std::size_t bytes)
      : bytes_(bytes), bits_(zeros<std::uint64_t>(bytes / 64 + 1)) {}

  /// Whether any of these at most 64 bytes has been written.
  bool any(std::size_t offset, unsigned bytes) const {
    if (bits_ == nullptr) return true;
    const std::uint64_t mask = (bytes < 64 ? std::uint64_t{1} << bytes : 0) - 1;
    const std::size_t word = offset / 64;
    const auto shift = static_cast<unsigned>(offset % 64);
    if ((bits_[word] & mask << shift) != 0) return true;
    return shift + bytes > 64 && (bits_[word + 1] & mask >> (64 - shift)) != 0;
  }
  /// All bytes count as written.
  void set_all() { bits_.reset(); }
  /// These bytes have been written.
  void set(std::size_t offset, std::size_t bytes) {
    if (bytes == bytes_) set_all();
    if (bits_ == nullptr) return;
    const std::size_t end = offset + bytes;
    for (std::size_t i = offset; i < end;) {
      const auto shift = static_cast<unsigned>(i % 64);
      const std::size_t count = std::min<std::size_t>(64 - shift, end - i);
      bits_[i / 64] |= ((count < 64 ? std::uint64_t{1} << count : 0) - 1) << shift;
      i += count;
    }
  }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::uint64_t[], Free> bits_;  ///< null if all have been written
};

}  // namespace cuda_on_cpu

/// @file
/// Digests: numbers to compare instead of long data.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace stagewise {

/// A number that almost certainly differs if the data added to it differ. It protects against
/// accidents, not against attacks.
class Digest {
 public:
  /// Adds a number.
  void add(std::uint64_t word) {
    // The finalizer of MurmurHash3 (Appleby), a bijection that lets every bit change every other.
    state_ += word;
    state_ ^= state_ >> 33U;
    state_ *= 0xff51afd7ed558ccdULL;
    state_ ^= state_ >> 33U;
    state_ *= 0xc4ceb9fe1a85ec53ULL;
    state_ ^= state_ >> 33U;
  }

  /// Adds numbers, characters, ..., and how many bytes they take.
  template <typename Elements>
  void add_all(const Elements& elements) {
    const std::size_t bytes = elements.size() * sizeof(*elements.data());
    add(bytes);
    const void* const begin = elements.data();
    const auto* const data = static_cast<const char*>(begin);
    std::uint64_t word = 0;
    std::size_t done = 0;
    for (; bytes - done >= sizeof(word); done += sizeof(word)) {
      std::memcpy(&word, data + done, sizeof(word));
      add(word);
    }
    if (done == bytes) return;
    word = 0;
    std::memcpy(&word, data + done, bytes - done);
    add(word);
  }

  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace stagewise

/// @file
/// A race that the thread's next step may show to be none.
///
/// Two things are right although the language calls them races. Threads may write the same value,
/// `*found = true`. And what an atomic function of one's own begins with, a plain read of what
/// others change atomically, only has to be a good guess for its atomicCAS().
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cuda_on_cpu/findings.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/shadow.hpp"

namespace cuda_on_cpu {

/// A race that the next access may show to be none.
class Suspicion {
 public:
  /// Whether it may be one of the idioms that the top of this file is about.
  static bool may_be_right(const Cell& cell, const Record* race, const Record& later) {
    if (race != &cell.write || later.has(Record::is_strong)) return false;
    return later.has(Record::writes) != race->has(Record::is_strong);
  }

  bool exists() const { return bytes_ != 0; }

  /// The later access has not been made yet: memory is as the earlier one left it.
  void raise(const Culprit& later, const Culprit& earlier, const Access& access) {
    if (exists()) return;  // by the beginning of the same copy
    later_ = later;
    earlier_ = earlier;
    address_ = access.address;
    bytes_ = access.bytes;
    std::memcpy(before_.data(), reinterpret_cast<const void*>(address_), bytes_);
  }

  /// A thread has come to its next access: does it show anything?
  void settle(unsigned thread, const Access& next) {
    if (thread == later_.thread && !later_.writes) {
      if (!next.is_atomic) return;
      if (next.address == address_) {
        bytes_ = 0;
        return;
      }
    }
    // The parts of a copy are told of before it is made.
    if (thread == later_.thread && later_.writes && next.instruction == later_.instruction &&
        next.address == address_ + bytes_) {
      return;
    }
    settle();
  }
  /// Ends the launch unless there is nothing, or nothing wrong.
  void settle() {
    const unsigned bytes = std::exchange(bytes_, 0U);
    if (bytes == 0) return;
    const auto* const now = reinterpret_cast<const void*>(address_);
    if (later_.writes && std::memcmp(now, before_.data(), bytes) == 0) return;
    end_by_race(later_, earlier_);
  }

 private:
  Culprit later_{};
  Culprit earlier_{};
  std::uintptr_t address_ = 0;
  unsigned bytes_ = 0;  ///< 0 if there is none
  std::array<char, 16> before_{};
};

}  // namespace cuda_on_cpu

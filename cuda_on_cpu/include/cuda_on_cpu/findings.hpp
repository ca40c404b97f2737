/// @file
/// What the checks of accesses have found: who is to blame, the sentences, and the end of the
/// launch.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "cuda_on_cpu/locals.h"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/shadow.hpp"

namespace cuda_on_cpu {

/// An access that is wrong, or that it is in conflict with.
struct Culprit {
  std::uint64_t block;  ///< counted through the grid
  unsigned thread;      ///< counted through the block
  std::uintptr_t instruction;
  bool writes;
  bool is_atomic;
};

/// Part of an arena that a variable has, or the launch's dynamic part.
struct SharedVariable {
  const char* name;  ///< null for the dynamic part
  std::uintptr_t begin;
  std::size_t bytes;
};

/// The number last declared as sent in a word; see declare.h.
struct SentNumber {
  bool exists = false;
  std::uint64_t number = 0;
  std::uintptr_t instruction = 0;
};

/// Ends the launch with a sentence about an access of the running thread or of an earlier one,
/// unless another mistake has come before. Gives up the stack.
[[noreturn]] void end_by_race(const Culprit& later, const Culprit& earlier);
/// @param what Record::what of an access of other work, which nothing makes this one wait for.
[[noreturn]] void end_by_piece(const Culprit& later, const std::string& piece, std::uint32_t what);
/// The sentence about that.
std::string describe_piece(const std::string& begin, const std::string& piece, std::uint32_t what);
/// @param what Record::what of another process's access.
[[noreturn]] void end_by_peer(const Culprit& later, std::uint32_t what);
/// Likewise, if the later access is a copy by the host, which continues.
void report_copy(bool writes, std::uint32_t what);
/// @param what Record::what of the declare_received() of the number that the sender replaces.
[[noreturn]] void end_by_replacing(const Culprit& sender, std::uint32_t what);
/// @param last what was sent in the word instead of the number that the receiver relies on.
[[noreturn]] void end_by_number(const Culprit& receiver, std::uint64_t number, const SentNumber& last);
/// The access reads what an asynchronous copy has not written yet.
[[noreturn]] void end_by_copy(const Culprit& reader);
[[noreturn]] void end_by_local(const Culprit& reader, const Local& local);
[[noreturn]] void end_by_unwritten(const Culprit& reader, std::uintptr_t address, bool is_shared);
/// @param address the first byte that is outside.
[[noreturn]] void end_beyond_allocation(const Culprit& culprit, std::uintptr_t address);
[[noreturn]] void end_beyond_variable(const Culprit& culprit, std::uintptr_t address, const SharedVariable* nearest);

/// A block's number, counted through the grid.
inline std::uint64_t number_of(const Block& block) {
  return block.index.x + std::uint64_t{gridDim.x} * (block.index.y + std::uint64_t{gridDim.y} * block.index.z);
}

/// Instructions are remembered by how far they are from this one.
inline std::uintptr_t anchor() { return reinterpret_cast<std::uintptr_t>(&make_checking_observer); }
/// The part of Record::what that says where.
inline std::uint32_t what_of(std::uintptr_t instruction) {
  return static_cast<std::uint32_t>(instruction - anchor()) << 3U;
}
/// Whether it is a copy, not an access of a kernel.
constexpr bool is_copy(std::uint32_t what) { return what >> 3U == 0; }
/// Record::what of an access.
inline std::uint32_t to_what(const Access& access) {
  return what_of(access.instruction) | (access.writes ? Record::writes : 0) |
         (access.is_atomic ? Record::is_atomic : 0) | (access.is_volatile ? Record::is_volatile : 0);
}
/// The instruction of a Record::what.
inline std::uintptr_t to_instruction(std::uint32_t what) {
  return anchor() + static_cast<std::uintptr_t>(std::intptr_t{static_cast<std::int32_t>(what) >> 3});
}

/// Who makes an access.
inline Culprit culprit_of(const Fiber& fiber, const Access& access) {
  return {number_of(*fiber.block), fiber.thread, access.instruction, access.writes, access.is_atomic};
}
/// Who has made one that is remembered.
/// @param clock that of the fiber's block.
inline Culprit to_culprit(const Record& record, const BlockClock& clock, const Fiber& fiber) {
  const std::uint32_t block = record.thread >> thread_bits;
  return {block == clock.number ? number_of(*fiber.block) : block, record.thread & (max_threads - 1),
          to_instruction(record.what), record.has(Record::writes), record.has(Record::is_atomic)};
}

// Two things are right although the language calls them races. Threads may write the same value,
// `*found = true`. And what an atomic function of one's own begins with, a plain read of what
// others change atomically, only has to be a good guess for its atomicCAS().

/// A race that the next access may show to be none.
class Suspicion {
 public:
  /// Whether it may be one of these two.
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

/// @file
/// What the checks of accesses have found: who is to blame, the sentences, and the end of the
/// launch.
#pragma once

#include <cstdint>

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
/// @param what Record::what of another process's access.
[[noreturn]] void end_by_peer(const Culprit& later, std::uint32_t what);
/// Likewise, if the later access is a copy by the host, which continues.
void report_copy(bool writes, std::uint32_t what);
/// @param what Record::what of the declare_received() of the number that the sender replaces.
[[noreturn]] void end_by_replacing(const Culprit& sender, std::uint32_t what);
/// @param last what was sent in the word instead of the number that the receiver relies on.
[[noreturn]] void end_by_number(const Culprit& receiver, std::uint64_t number,
                                const SentNumber& last);
/// The access reads what an asynchronous copy has not written yet.
[[noreturn]] void end_by_copy(const Culprit& reader);
[[noreturn]] void end_by_unwritten(const Culprit& reader, std::uintptr_t address, bool is_shared);
/// @param address the first byte that is outside.
[[noreturn]] void end_beyond_allocation(const Culprit& culprit, std::uintptr_t address);
[[noreturn]] void end_beyond_variable(const Culprit& culprit, std::uintptr_t address,
                                      const SharedVariable* nearest);

/// A block's number, counted through the grid.
inline std::uint64_t number_of(const Block& block) {
  return block.index.x +
         std::uint64_t{gridDim.x} * (block.index.y + std::uint64_t{gridDim.y} * block.index.z);
}

/// Instructions are remembered by how far they are from this one.
inline std::uintptr_t anchor() {
  return reinterpret_cast<std::uintptr_t>(&make_checking_observer);
}
/// The part of Record::what that says where.
inline std::uint32_t what_of(std::uintptr_t instruction) {
  return static_cast<std::uint32_t>(instruction - anchor()) << 3U;
}
/// Whether it is a copy, not an access of a kernel.
constexpr bool is_copy(std::uint32_t what) {
  return what >> 3U == 0;
}
/// Record::what of an access.
inline std::uint32_t to_what(const Access& access) {
  return what_of(access.instruction) | (access.writes ? Record::writes : 0) |
         (access.is_atomic ? Record::is_atomic : 0) |
         (access.is_volatile ? Record::is_volatile : 0);
}
/// The instruction of a Record::what.
inline std::uintptr_t to_instruction(std::uint32_t what) {
  return anchor() +
         static_cast<std::uintptr_t>(std::intptr_t{static_cast<std::int32_t>(what) >> 3});
}

/// Who makes an access.
inline Culprit culprit_of(const Fiber& fiber, const Access& access) {
  return {number_of(*fiber.block), fiber.thread, access.instruction, access.writes,
          access.is_atomic};
}
/// Who has made one that is remembered.
/// @param clock that of the fiber's block.
inline Culprit to_culprit(const Record& record, const BlockClock& clock, const Fiber& fiber) {
  const std::uint32_t block = record.thread >> thread_bits;
  return {block == clock.number ? number_of(*fiber.block) : block,
          record.thread & (max_threads - 1), to_instruction(record.what),
          record.has(Record::writes), record.has(Record::is_atomic)};
}

}  // namespace cuda_on_cpu

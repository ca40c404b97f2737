/// @file
/// What the checks of accesses have found: the sentences, and the end of the launch.
#pragma once

#include <cstdint>
#include <string>

#include "cuda_on_cpu/observer.hpp"

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

}  // namespace cuda_on_cpu

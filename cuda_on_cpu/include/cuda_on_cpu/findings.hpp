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

/// The number that was last declared to have been sent in a word; see declare.h.
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
/// Likewise, where the later access is a copy by the host, which goes on.
void report_copy(bool writes, std::uint32_t what);
/// @param what Record::what of the declaration that what the sender replaces has been received.
[[noreturn]] void end_by_replacing(const Culprit& sender, std::uint32_t what);
/// @param last what was sent in the word that the receiver relies on, instead of that number.
[[noreturn]] void end_by_number(const Culprit& receiver, std::uint64_t number,
                                const SentNumber& last);
/// The access reads what an asynchronous copy is to write.
[[noreturn]] void end_by_copy(const Culprit& reader);
[[noreturn]] void end_by_unwritten(const Culprit& reader, std::uintptr_t address, bool is_shared);
/// @param address the first byte that is outside.
[[noreturn]] void end_beyond_allocation(const Culprit& culprit, std::uintptr_t address);
[[noreturn]] void end_beyond_variable(const Culprit& culprit, std::uintptr_t address,
                                      const SharedVariable* nearest);

}  // namespace cuda_on_cpu

/// @file
/// What lets most accesses end without a call of the observer: what is known about the thread that
/// runs, and about the memory that it is likely to access.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_on_cpu/fiber.hpp"

namespace cuda_on_cpu {

/// An access that is counted later, together with those of the warp's other lanes.
struct KeptAccess {
  std::uintptr_t address;  ///< in global memory, as a GPU would have it
  std::uint64_t key;       ///< see key_of()
};

/// What is the same for all lanes of a request: the instruction, the kind of access and its size.
constexpr std::uint64_t key_of(std::uintptr_t instruction, unsigned kind, unsigned bytes) {
  return std::uint64_t{instruction} << 8U | kind << 5U | bytes;
}
/// The kinds are 0 to 2 for loads, stores and atomics of global memory, 3 to 5 of shared memory.
constexpr unsigned kind_of(bool is_shared, bool writes, bool is_atomic) {
  return (is_shared ? 3U : 0U) + (is_atomic ? 2U : (writes ? 1U : 0U));
}

/// Whether an access with this key is one of an atomic function.
constexpr bool is_atomic(std::uint64_t key) {
  return (key >> 5U & 7U) % 3 == 2;
}

/// Where a thread's accesses are kept; full at the beginning.
struct KeptAccesses {
  KeptAccess* begin = nullptr;
  KeptAccess* next = nullptr;
  KeptAccess* end = nullptr;
};

/// Memory whose accesses need not be looked up. `shift` leads from an address to the one that is
/// kept, or to what is known about the word there.
struct Window {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::uintptr_t shift = 0;

  /// Whether an access begins there.
  bool has(std::uintptr_t address) const { return address - begin < bytes; }
};

/// What is known of the time and the last accesses of a word, in one number; see words.hpp.
using WordMark = std::uint32_t;
/// No word's.
inline constexpr WordMark no_mark = ~WordMark{0};

/// The thread that has last been asked for. One OS thread runs all while something is observed.
struct Running {
  const Fiber* fiber = nullptr;
  std::uintptr_t stack = 0;
  std::size_t stack_bytes =
      0;          ///< 0 if another thread may be running, or this one in another state
  Window shared;  ///< its block's memory
  KeptAccesses* kept = nullptr;  ///< null unless accesses are counted
  /// Plain reads of words that have one of these change nothing that is known of them.
  std::array<WordMark, 3> quiet{no_mark, no_mark, no_mark};
};
inline Running running;

/// Something has happened that accesses depend on.
inline void forget_running() {
  running.stack_bytes = 0;
}

/// Global memory by the 256 KiB that an address is in: so much lies between allocations, too.
inline constexpr unsigned granule_bits = 18;
inline std::array<Window, 1024> windows;

/// The place for the window that an address is in.
inline Window& window_at(std::uintptr_t address) {
  return windows[(address >> granule_bits) % windows.size()];
}

/// Likewise, memory whose accesses are nobody's business: the runtime's own, for the most part.
inline std::array<Window, 1024> ignored;

/// Its place for what an address is in.
inline Window& ignored_at(std::uintptr_t address) {
  return ignored[(address >> granule_bits) % ignored.size()];
}

}  // namespace cuda_on_cpu

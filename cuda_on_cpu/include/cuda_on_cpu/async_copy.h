/// @file
/// What the kinds of asynchronous copies have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cuda_on_cpu/kernel.hpp"

namespace cuda_on_cpu {

/// Copies units of a size, each by one access, as a GPU does.
template <class Unit>
void copy_units(char* to, const char* from, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i += sizeof(Unit)) {
    *reinterpret_cast<Unit*>(to + i) = *reinterpret_cast<const Unit*>(from + i);
  }
}
/// 16 bytes.
struct alignas(16) CopiedVector {
  std::uint64_t halves[2];
};

/// Here and not in the runtime, so that whoever watches kernels sees the accesses.
inline void do_copy(const AsyncCopy& copy) {
  const unsigned copied = copy.bytes - copy.zeros;
  auto* const to = static_cast<char*>(copy.to);
  const auto* const from = static_cast<const char*>(copy.from);
  const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  const auto unit = places | copied;
  if (unit % 16 == 0) {
    copy_units<CopiedVector>(to, from, copied);
  } else if (unit % 8 == 0) {
    copy_units<std::uint64_t>(to, from, copied);
  } else if (unit % 4 == 0) {
    copy_units<std::uint32_t>(to, from, copied);
  } else {
    copy_units<char>(to, from, copied);
  }
  std::memset(to + copied, 0, copy.zeros);
}

/// The running thread waits for all groups of its copies but the `prior` latest.
inline void finish_async_copies(std::size_t prior) {
  AsyncCopy copy{};
  while (take_async_copy(static_cast<unsigned>(prior), copy)) do_copy(copy);
}

/// The running thread asks for a copy of any size: at once if it is not into shared memory, or not
/// of a size and an alignment that a GPU copies beside other work.
inline void begin_any_copy(void* to, const void* from, std::size_t bytes, Place place) {
  auto* const target = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  const auto common = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  const std::size_t step = common % 16 == 0 ? 16 : (common % 8 == 0 ? 8 : 4);
  if (common % 4 != 0 || !is_shared(to)) {
    for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
    return;
  }
  for (std::size_t i = 0; i < bytes; i += step) {
    begin_async_copy({target + i, source + i, static_cast<unsigned>(step), 0}, place);
  }
}
/// The part that the running thread has in a group's copy.
template <class Group>
void begin_group_copy(const Group& group, void* to, const void* from, std::size_t bytes, Place place) {
  const auto common = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  const std::size_t step = common % 16 == 0 ? 16 : (common % 8 == 0 ? 8 : (common % 4 == 0 ? 4 : 1));
  const auto threads = static_cast<std::size_t>(group.size());
  for (std::size_t i = group.thread_rank() * step; i < bytes; i += threads * step) {
    begin_any_copy(static_cast<char*>(to) + i, static_cast<const char*>(from) + i, step, place);
  }
}

}  // namespace cuda_on_cpu

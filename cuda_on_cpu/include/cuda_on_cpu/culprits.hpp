/// @file
/// From accesses to what is remembered of them, and back to what a sentence says.
#pragma once

#include <cstdint>

#include "cuda_on_cpu/fiber.hpp"
#include "cuda_on_cpu/findings.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/shadow.hpp"

namespace cuda_on_cpu {

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

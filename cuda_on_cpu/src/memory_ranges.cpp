#include "cuda_on_cpu/memory_ranges.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <optional>

#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/running.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp): the linker's.
extern "C" char __data_start;
extern "C" char _end;
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp)

namespace cuda_on_cpu {
namespace {

/// The ranges by the granule that an address is in, as in `windows`.
std::array<const MemoryRange*, 1024> known_ranges{};
std::deque<MemoryRange> ranges;
unsigned next_number = 0;
std::uint64_t known_frees = 0;

/// Pages that no allocation is on, which the runtime's own data are asked for again and again.
constexpr unsigned page_bits = 12;
std::array<std::uintptr_t, 1024> pages_elsewhere{};
std::uint64_t known_allocations = 0;

/// The program's variables outside of functions.
const MemoryRange* variables() {
  static const auto begin = reinterpret_cast<std::uintptr_t>(&__data_start);
  static const MemoryRange all{begin, reinterpret_cast<std::uintptr_t>(&_end), begin, next_number++,
                               true};
  return &all;
}

const MemoryRange* look_up(std::uintptr_t address) {
  const std::uintptr_t page = address >> page_bits;
  if (observer->allocations != known_allocations) {
    known_allocations = observer->allocations;
    pages_elsewhere.fill(0);
  }
  std::uintptr_t& elsewhere = pages_elsewhere[page % pages_elsewhere.size()];
  if (elsewhere == page) return nullptr;
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) {
    const auto is_free = [](std::uintptr_t place) { return !find_allocation(place); };
    if (is_free(page << page_bits) && is_free(((page + 1) << page_bits) - 1)) elsewhere = page;
    return nullptr;
  }
  for (const MemoryRange& range : ranges) {
    if (range.begin == found->pages) return &range;
  }
  ranges.push_back({found->pages, found->pages + found->page_bytes, found->begin, next_number++});
  return &ranges.back();
}

}  // namespace

void resume(const Fiber& fiber) {
  if (running.fiber == &fiber && running.stack_bytes != 0) return;
  if (observer->frees != known_frees) [[unlikely]] {  // others may have these addresses now
    known_frees = observer->frees;
    known_ranges.fill(nullptr);
    windows.fill({});
    ranges.clear();
  }
  running.fiber = &fiber;
  running.stack = reinterpret_cast<std::uintptr_t>(fiber.stack);
  running.stack_bytes = fiber.stack_bytes;
  observer->resume(fiber);
}

const MemoryRange* range_of(std::uintptr_t address) {
  const MemoryRange*& known = known_ranges[(address >> granule_bits) % known_ranges.size()];
  if (known != nullptr && address - known->begin < known->end - known->begin) return known;
  if (observer->watches_variables) {
    const MemoryRange* const own = variables();
    if (address - own->begin < own->end - own->begin) return own;
  }
  const MemoryRange* const found = look_up(address);
  if (found != nullptr) known = found;
  return found;
}

}  // namespace cuda_on_cpu

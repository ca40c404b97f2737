#include "cuda_on_cpu/memory_shadow.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <new>
#include <optional>

#include <sched.h>
#include <sys/mman.h>

#include "cuda_on_cpu/memory.hpp"

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
std::uint64_t known_allocations = 0;
constexpr std::uintptr_t page_bytes = 4096;

/// The program's variables outside of functions.
const MemoryRange* variables() {
  static const auto begin = reinterpret_cast<std::uintptr_t>(&__data_start);
  static const MemoryRange all{begin, reinterpret_cast<std::uintptr_t>(&_end), begin, next_number++, true};
  return &all;
}

/// Whether nothing on the page is watched. Allocations have more than a page.
bool is_unwatched(std::uintptr_t page) {
  const std::uintptr_t last = page + page_bytes - 1;
  if (observer->watches_variables && page < variables()->end && last >= variables()->begin) {
    return false;
  }
  return !find_allocation(page) && !find_allocation(last);
}

/// Remembers that nothing around an address is watched, if that is so.
void ignore(std::uintptr_t address) {
  constexpr std::uintptr_t granule_bytes = std::uintptr_t{1} << granule_bits;
  const std::uintptr_t granule = address & ~(granule_bytes - 1);
  std::uintptr_t begin = address & ~(page_bytes - 1);
  std::uintptr_t end = begin + page_bytes;
  if (!is_unwatched(begin)) return;
  Window& known = ignored_at(address);
  const bool is_split = known.begin - granule < granule_bytes;  // by something between
  while (!is_split && begin > granule && is_unwatched(begin - page_bytes)) begin -= page_bytes;
  while (!is_split && end < granule + granule_bytes && is_unwatched(end)) end += page_bytes;
  known = {begin, end - begin, 0};
}

const MemoryRange* look_up(std::uintptr_t address) {
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) {
    ignore(address);
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
  if (observer->allocations != known_allocations) {
    known_allocations = observer->allocations;
    ignored.fill({});
  }
  running.fiber = &fiber;
  running.stack = reinterpret_cast<std::uintptr_t>(fiber.stack);
  running.stack_bytes = fiber.stack_bytes;
  observer->resume(fiber);
}

const MemoryRange* range_of(std::uintptr_t address) {
  const MemoryRange*& known = known_ranges[(address >> granule_bits) % known_ranges.size()];
  if (known != nullptr && address - known->begin < known->end - known->begin) return known;
  if (ignored_at(address).has(address)) return nullptr;
  if (observer->watches_variables) {
    const MemoryRange* const own = variables();
    if (address - own->begin < own->end - own->begin) return own;
  }
  const MemoryRange* const found = look_up(address);
  if (found != nullptr) known = found;
  return found;
}

void GlobalShadows::allocated(std::uintptr_t begin, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  allocations_[begin] = std::make_unique<GlobalShadow>(begin, bytes, true);
}

void GlobalShadows::freed(std::uintptr_t begin) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(begin);
}

void GlobalShadows::shared(std::uintptr_t begin, std::size_t bytes, int file, std::size_t offset) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<GlobalShadow>& memory = allocations_[begin];
  if (memory == nullptr) memory = std::make_unique<GlobalShadow>(begin, bytes, false);
  memory->peers = std::make_unique<PeerWords>(file, offset, bytes);
}

GlobalShadow* GlobalShadows::at(std::uintptr_t address) {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  GlobalShadow* const memory = std::prev(next)->second.get();
  return memory != nullptr && memory->contains(address, 1) ? memory : nullptr;
}

GlobalShadow* GlobalShadows::of_peers(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  GlobalShadow* const memory = at(address);
  return memory != nullptr && memory->peers != nullptr ? memory : nullptr;
}

GlobalShadow* GlobalShadows::at_host_call(std::uintptr_t address) {
  const MemoryRange* const variable = variables();
  const std::optional<Allocation> found = find_allocation(address);
  if (found && found->freed) return nullptr;
  if (!found && address - variable->begin >= variable->end - variable->begin) return nullptr;
  return look_up(found ? MemoryRange{found->pages, 0, 0, 0} : *variable, known_frees_);
}

void GlobalShadows::filled(std::uintptr_t begin, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  GlobalShadow* const memory = at(begin);
  if (memory == nullptr) return;
  memory->written.set(begin - memory->begin, std::min(bytes, memory->begin + memory->bytes - begin));
}

void GlobalShadows::clear() {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, memory] : allocations_) {
    if (memory == nullptr) continue;
    memory->words.clear();
    for (auto& [word, sent] : memory->sent) {
      sent.known = {};
      sent.receipts.clear();
    }
  }
}

GlobalShadow* GlobalShadows::look_up(const MemoryRange& range, std::uint64_t frees) try {
  std::uintptr_t begin = range.begin;
  std::size_t bytes = range.end - range.begin;
  bool is_of_host = false;
  if (!range.of_variables) {
    const std::optional<Allocation> found = find_allocation(range.begin);
    if (!found || found->freed) return nullptr;
    begin = found->begin;
    bytes = found->bytes;
    is_of_host = found->kind != MemoryKind::device;
  }
  const std::lock_guard lock(mutex_);
  std::unique_ptr<GlobalShadow>& memory = allocations_[begin];
  if (memory == nullptr) {
    memory = std::make_unique<GlobalShadow>(begin, bytes, false);
    memory->of_host = !range.of_variables && is_of_host;
  }
  if (known_frees_ != frees || known_.empty()) {  // ranges have new numbers
    known_frees_ = frees;
    known_.clear();
    first_known_ = range.number;
  }
  if (range.number < first_known_ || range.end == 0) return memory.get();
  if (range.number - first_known_ >= known_.size()) known_.resize(range.number - first_known_ + 1);
  return known_[range.number - first_known_] = memory.get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

PeerWords::PeerWords(int file, std::size_t offset, std::size_t bytes) : bytes_(bytes_for(bytes)) {
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  if (mapped != MAP_FAILED) words_ = static_cast<PeerWord*>(mapped);
}

PeerWords::~PeerWords() {
  if (words_ != nullptr) munmap(words_, bytes_);
}

void PeerWords::lock(PeerWord& word) {
  while (__atomic_exchange_n(&word.is_locked, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
}

}  // namespace cuda_on_cpu

#include "cuda_on_cpu/memory_shadow.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>

#include "cuda_on_cpu/memory.hpp"

namespace cuda_on_cpu {

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

void GlobalShadows::filled(std::uintptr_t begin, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  GlobalShadow* const memory = at(begin);
  if (memory == nullptr) return;
  memory->written.set(begin - memory->begin,
                      std::min(bytes, memory->begin + memory->bytes - begin));
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
  if (!range.of_variables) {
    const std::optional<Allocation> found = find_allocation(range.begin);
    if (!found || found->freed) return nullptr;
    begin = found->begin;
    bytes = found->bytes;
  }
  const std::lock_guard lock(mutex_);
  std::unique_ptr<GlobalShadow>& memory = allocations_[begin];
  if (memory == nullptr) {
    memory = std::make_unique<GlobalShadow>(begin, bytes, false);
  }
  if (known_frees_ != frees || known_.empty()) {  // ranges have new numbers
    known_frees_ = frees;
    known_.clear();
    first_known_ = range.number;
  }
  if (range.number < first_known_) return memory.get();
  if (range.number - first_known_ >= known_.size()) known_.resize(range.number - first_known_ + 1);
  return known_[range.number - first_known_] = memory.get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace cuda_on_cpu

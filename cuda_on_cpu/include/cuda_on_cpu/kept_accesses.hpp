/// @file
/// Memory for the accesses of threads until they are counted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/running.hpp"

namespace cuda_on_cpu {

/// A thread's, with their memory.
struct ThreadsAccesses : KeptAccesses {
  std::unique_ptr<KeptAccess[]> memory;
  std::size_t capacity = 0;

  /// How many there are.
  std::size_t size() const { return static_cast<std::size_t>(next - begin); }
  /// Whether there are none.
  bool empty() const { return next == begin; }
};

/// Those of a block.
using BlocksAccesses = std::array<ThreadsAccesses, max_threads>;

/// The memory. What was given back last is given out first, while it is in the caches.
class KeptPool {
 public:
  /// Makes room for more.
  /// @param most how many there may be before somebody is asked.
  void grow(ThreadsAccesses& kept, std::size_t most) {
    ThreadsAccesses larger;
    if (kept.capacity == 0 && !spare_.empty()) {
      larger = std::move(spare_.back());
      spare_.pop_back();
    } else {
      larger.capacity = std::max(2 * kept.capacity, least);
      larger.memory = std::make_unique_for_overwrite<KeptAccess[]>(larger.capacity);
    }
    larger.begin = larger.memory.get();
    larger.next = std::copy(kept.begin, kept.next, larger.begin);
    larger.end = larger.begin + std::min(larger.capacity, most);
    kept = std::move(larger);
  }

  /// Forgets a thread's accesses.
  void take_back(ThreadsAccesses& kept) {
    if (kept.capacity <= most_reserved) spare_.push_back(std::move(kept));
    kept = {};
  }

 private:
  static constexpr std::size_t least = 64;
  static constexpr std::size_t most_reserved = std::size_t{1} << 16;
  std::vector<ThreadsAccesses> spare_;
};

}  // namespace cuda_on_cpu

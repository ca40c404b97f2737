/// @file
/// What the kernel of one launch has asked for: the accesses of threads are kept until requests are
/// made of those of a warp's lanes, and counted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/observer.hpp"

namespace cuda_on_cpu {

/// What accesses are counted as; the numbers are those of kind_of().
enum class AccessKind : std::uint8_t {
  global_load,
  global_store,
  global_atomic,
  shared_load,
  shared_store,
  shared_atomic
};
/// Their names.
inline constexpr std::array kinds{"global loads", "global stores", "global atomics",
                                  "shared loads", "shared stores", "shared atomics"};

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

/// The accesses of one lane, in their order.
struct LanesAccesses {
  const KeptAccess* begin;
  const KeptAccess* end;
};

/// The lanes of a warp that have accesses.
struct Lanes {
  std::array<LanesAccesses, 32> active;
  unsigned count = 0;

  /// Adds one, if it has any.
  void add(const KeptAccess* begin, const KeptAccess* end) {
    if (begin != end) active[count++] = {begin, end};
  }
};

// What a request of a warp costs: the sectors of global memory that it touches, the cycles that the
// banks of shared memory take.

inline constexpr unsigned sector_bits = 5;
inline constexpr unsigned sector_bytes = 1U << sector_bits;
inline constexpr unsigned banks = 32;  ///< of shared memory, each 4 bytes wide
inline constexpr unsigned bank_bytes = 4;

/// Accesses of the lanes of a warp that are one request.
struct Request {
  unsigned lanes = 0;
  unsigned bytes = 0;  ///< of each
  std::array<std::uintptr_t, 32> addresses;
};

/// Numbers in the order in which they come; one that equals the last is not added.
struct Numbers {
  std::array<std::uintptr_t, 128> values;
  std::size_t count = 0;
  bool is_sorted = true;

  /// Adds one.
  void add(std::uintptr_t value) {
    if (count > 0) {
      if (values[count - 1] == value) return;
      is_sorted = is_sorted && values[count - 1] < value;
    }
    values[count++] = value;
  }
  /// Leaves each number once.
  void make_distinct() {
    if (is_sorted) return;
    auto* const end = values.data() + count;
    std::sort(values.data(), end);
    count = static_cast<std::size_t>(std::unique(values.data(), end) - values.data());
  }
};

/// Calls function(sector) once for each sector of a request.
/// @return how many there are.
template <class Function>
std::size_t for_each_sector(const Request& request, const Function& function) {
  std::uintptr_t least = ~std::uintptr_t{0};
  std::uintptr_t most = 0;
  for (unsigned i = 0; i < request.lanes; ++i) {
    least = std::min(least, request.addresses[i]);
    most = std::max(most, request.addresses[i]);
  }
  const std::uintptr_t begin = least / sector_bytes;
  if ((most + request.bytes - 1) / sector_bytes - begin < 64) {  // a bit for each of them
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < request.lanes; ++i) {
      bits |= std::uint64_t{1} << (request.addresses[i] / sector_bytes - begin);
      bits |= std::uint64_t{1} << ((request.addresses[i] + request.bytes - 1) / sector_bytes - begin);
    }
    const auto count = static_cast<std::size_t>(std::popcount(bits));
    for (; bits != 0; bits &= bits - 1) {
      function(begin + static_cast<unsigned>(std::countr_zero(bits)));
    }
    return count;
  }
  Numbers sectors;
  for (unsigned i = 0; i < request.lanes; ++i) {
    sectors.add(request.addresses[i] / sector_bytes);
    sectors.add((request.addresses[i] + request.bytes - 1) / sector_bytes);
  }
  sectors.make_distinct();
  for (std::size_t i = 0; i < sectors.count; ++i) function(sectors.values[i]);
  return sectors.count;
}

/// Adds the cycles that shared memory takes for a request. Lanes that want 8 bytes are served in
/// two halves of the warp, those that want 16 in four quarters. In each, a bank serves one word per
/// cycle, whoever wants it.
inline void add_wavefronts(const Request& request, AccessCounts& counts) {
  const unsigned words = std::max(1U, request.bytes / bank_bytes);
  const unsigned together = 32 / words;
  for (unsigned first = 0; first < request.lanes; first += together) {
    const unsigned end = std::min(first + together, request.lanes);
    Numbers wanted;
    for (unsigned i = first; i < end; ++i) {
      for (unsigned word = 0; word < words; ++word) {
        wanted.add(request.addresses[i] / bank_bytes + word);
      }
    }
    wanted.make_distinct();
    std::array<std::uint8_t, banks> per_bank{};
    unsigned most = 0;
    for (std::size_t i = 0; i < wanted.count; ++i) {
      most = std::max<unsigned>(most, ++per_bank[wanted.values[i] % banks]);
    }
    counts.wavefronts += most;
    counts.conflicts += most - 1;
  }
}

/// Which sectors of each allocation have been touched.
class TouchedSectors {
 public:
  /// An address has the number of its allocation from this bit on.
  static constexpr unsigned offset_bits = 40;

  /// This one has been.
  void touch(std::uintptr_t sector) {
    constexpr unsigned bits = offset_bits - sector_bits;
    const std::uintptr_t range = sector >> bits;
    const std::uintptr_t place = sector & ((std::uintptr_t{1} << bits) - 1);
    if (place >> (bits - 1) != 0) return;  // before the allocation's beginning
    if (range >= touched_.size()) touched_.resize(range + 1);
    std::vector<bool>& sectors = touched_[range];
    if (place >= sectors.size()) sectors.resize(std::max(place + 1, 2 * sectors.size()));
    sectors[place] = true;
  }
  /// How many bytes they have.
  std::uint64_t bytes() const {
    std::uint64_t sectors = 0;
    for (const std::vector<bool>& bits : touched_) {
      sectors += static_cast<std::uint64_t>(std::count(bits.begin(), bits.end(), true));
    }
    return sectors * sector_bytes;
  }
  /// None has been.
  void clear() { touched_.clear(); }

 private:
  std::vector<std::vector<bool>> touched_;
};

/// Counts of a launch.
class LaunchCounts {
 public:
  /// Makes requests of what the lanes of a warp have done since they were together.
  void count(Lanes& lanes) {
    if (lanes.count == 0) return;
    count_common_path(lanes);
    Lanes parted;
    for (unsigned i = 0; i < lanes.count; ++i) {
      parted.add(lanes.active[i].begin, lanes.active[i].end);
    }
    if (parted.count > 0) count_many_paths(parted);
  }

  /// Calls function(instruction, kind, counts) for all that has been counted.
  template <class Function>
  void for_each(const Function& function) const {
    for (const auto& [name, instruction] : instructions_) {
      function(name / 8, static_cast<AccessKind>(name % 8), instruction.counts);
    }
  }
  /// Bytes of the sectors that have been read, each once.
  std::uint64_t distinct_loaded() const { return loaded_.bytes(); }
  /// Likewise, written.
  std::uint64_t distinct_stored() const { return stored_.bytes(); }

  /// A launch begins.
  void clear() {
    instructions_.clear();
    known_.fill({});
    loaded_.clear();
    stored_.clear();
  }

 private:
  /// What one instruction has asked for, by accesses of one kind.
  struct Instruction {
    AccessCounts counts;
    // The requests that are being made: of the first time that a lane has come here, the second...
    std::uint64_t warp = 0;
    unsigned lane = 0;
    std::size_t times = 0;  ///< that this lane has
    std::vector<std::size_t> requests;
  };
  struct Known {
    std::uint64_t name = 0;
    Instruction* instruction = nullptr;
  };
  struct InstructionsRequest {
    std::uint64_t key;
    Instruction* instruction;
    Request request;
  };

  Instruction& instruction_of(std::uint64_t key) {
    const std::uint64_t name = key >> 5U;
    Known& known = known_[(name ^ name >> 8U) % known_.size()];
    if (known.instruction == nullptr || known.name != name) known = {name, &instructions_[name]};
    return *known.instruction;
  }

  /// Requests of all lanes, as far as they have gone the same way; takes these accesses away.
  void count_common_path(Lanes& lanes) {
    Request request;
    request.lanes = lanes.count;
    std::ptrdiff_t shortest = lanes.active[0].end - lanes.active[0].begin;
    for (unsigned i = 1; i < lanes.count; ++i) {
      shortest = std::min(shortest, lanes.active[i].end - lanes.active[i].begin);
    }
    std::ptrdiff_t done = 0;
    for (; done < shortest; ++done) {
      const std::uint64_t key = lanes.active[0].begin[done].key;
      std::uint64_t difference = 0;
      for (unsigned lane = 0; lane < lanes.count; ++lane) {
        const KeptAccess& access = lanes.active[lane].begin[done];
        difference |= access.key ^ key;
        request.addresses[lane] = access.address;
      }
      if (difference != 0) break;
      request.bytes = bytes_of(key);
      add(request, key, instruction_of(key).counts);
    }
    for (unsigned lane = 0; lane < lanes.count; ++lane) lanes.active[lane].begin += done;
  }

  /// Lanes that a branch has parted: what they have done by the same instruction, the first time,
  /// the second and so on.
  void count_many_paths(const Lanes& lanes) {
    ++warps_;
    std::size_t count = 0;
    for (unsigned lane = 0; lane < lanes.count; ++lane) {
      const LanesAccesses& accesses = lanes.active[lane];
      for (const KeptAccess* access = accesses.begin; access != accesses.end; ++access) {
        Instruction& instruction = instruction_of(access->key);
        if (instruction.warp != warps_) instruction.requests.clear();
        if (instruction.warp != warps_ || instruction.lane != lane) instruction.times = 0;
        instruction.warp = warps_;
        instruction.lane = lane;
        if (instruction.times == instruction.requests.size()) {
          instruction.requests.push_back(count);
          if (count == requests_.size()) requests_.emplace_back();
          requests_[count].key = access->key;
          requests_[count].instruction = &instruction;
          requests_[count].request.lanes = 0;
          ++count;
        }
        Request& request = requests_[instruction.requests[instruction.times++]].request;
        request.bytes = bytes_of(access->key);
        request.addresses[request.lanes++] = access->address;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      add(requests_[i].request, requests_[i].key, requests_[i].instruction->counts);
    }
  }

  static unsigned bytes_of(std::uint64_t key) { return key & 31U; }

  void add(const Request& request, std::uint64_t key, AccessCounts& counts) {
    ++counts.requests;
    counts.lanes += request.lanes;
    counts.bytes += std::uint64_t{request.lanes} * request.bytes;
    const auto kind = static_cast<AccessKind>(key >> 5U & 7U);
    if (kind >= AccessKind::shared_load) {
      add_wavefronts(request, counts);
      return;
    }
    TouchedSectors& touched = kind == AccessKind::global_load ? loaded_ : stored_;
    counts.sectors += for_each_sector(request, [&](std::uintptr_t sector) { touched.touch(sector); });
  }

  // By the instruction's address and the kind of access.
  std::unordered_map<std::uint64_t, Instruction> instructions_;
  std::array<Known, 256> known_{};
  TouchedSectors loaded_;
  TouchedSectors stored_;
  std::vector<InstructionsRequest> requests_;  ///< that are being made; kept for the memory
  std::uint64_t warps_ = 0;                    ///< whose lanes have been parted
};

}  // namespace cuda_on_cpu

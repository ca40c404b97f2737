/// @file
/// What is known about memory as a whole: allocations, and the arena of a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_on_cpu/findings.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/peer_words.hpp"
#include "cuda_on_cpu/shadow.hpp"
#include "cuda_on_cpu/words.hpp"

namespace cuda_on_cpu {

/// What was last declared as sent in a word; see declare.h.
struct Sent {
  std::uint64_t number = 0;
  std::uintptr_t instruction = 0;
  Knowledge known;  ///< to the sender
  std::vector<Record> receipts;
};

/// What is known about an allocation, or about the program's variables.
struct GlobalShadow {
  GlobalShadow(std::uintptr_t begin_address, std::size_t size, bool is_fresh)
      : begin(begin_address), bytes(size), written(is_fresh ? size : 0), words(begin, size) {
    if (!is_fresh) written.set_all();
  }

  /// Whether all these bytes are inside.
  bool contains(std::uintptr_t address, unsigned size) const {
    return address - begin < bytes && address - begin + size <= bytes;
  }

  std::uintptr_t begin;
  std::size_t bytes;
  WrittenBytes written;
  Words words;
  std::unique_ptr<PeerWords> peers;     ///< null unless other processes share the memory
  std::map<std::uintptr_t, Sent> sent;  ///< by the addresses of words
};

/// What is known about an arena and the block that runs in it.
struct BlockShadow {
  explicit BlockShadow(const Arena& arena)
      : begin(reinterpret_cast<std::uintptr_t>(arena.pages())),
        bytes(arena.page_bytes()),
        state(bytes + 16),
        words(begin, bytes) {}

  /// What a byte of shared memory is.
  enum State : std::uint8_t { outside, unwritten, on_its_way, written };

  /// A variable is there, unwritten; dynamic shared memory has no name.
  void place(const char* name, std::uintptr_t address, std::size_t size) {
    variables.push_back({name, address, size});
    std::memset(&state[address - begin], unwritten, size);
  }
  /// A block starts: its variables are not there yet.
  void start(std::uint32_t block_number, Time now) {
    started = now;
    clock.start(block_number, now);
    sent.clear();
    for (const SharedVariable& variable : variables) {
      std::memset(&state[variable.begin - begin], outside, variable.bytes);
    }
    variables.clear();
  }

  std::uintptr_t begin;
  std::size_t bytes;
  std::vector<std::uint8_t> state;  ///< of each byte
  std::vector<SharedVariable> variables;
  Words words;
  BlockClock clock;
  std::map<std::uintptr_t, Sent> sent;  ///< by the addresses of words
  Time started = 0;
};

/// All global memory.
class GlobalShadows {
 public:
  /// Memory of the device is there, unwritten.
  void allocated(std::uintptr_t begin, std::size_t bytes);
  /// It is gone.
  void freed(std::uintptr_t begin);
  /// Other processes may access it from now on; see Observer.
  void shared(std::uintptr_t begin, std::size_t bytes, int file, std::size_t offset);
  /// What is known about the memory at an address, if other processes share it; else null.
  GlobalShadow* of_peers(std::uintptr_t address);
  /// A copy or a fill has written it.
  void filled(std::uintptr_t begin, std::size_t bytes);
  /// Forgets all accesses.
  void clear();

  /// @param frees how often memory has been freed: with each, ranges get new numbers.
  /// @return null for memory that has been freed: the access is a fault, which is reported. Also
  /// where the host has no memory: an exception must not leave a fiber.
  GlobalShadow* of(const MemoryRange& range, std::uint64_t frees) {
    const std::size_t i = range.number - first_known_;
    return i < known_.size() && known_[i] != nullptr ? known_[i] : look_up(range, frees);
  }

 private:
  GlobalShadow* at(std::uintptr_t address);
  GlobalShadow* look_up(const MemoryRange& range, std::uint64_t frees);

  std::mutex mutex_;  ///< of the map: the host may allocate while a kernel runs
  std::map<std::uintptr_t, std::unique_ptr<GlobalShadow>> allocations_;
  std::vector<GlobalShadow*> known_;  ///< by the numbers of ranges
  unsigned first_known_ = 0;
  std::uint64_t known_frees_ = 0;
};

}  // namespace cuda_on_cpu

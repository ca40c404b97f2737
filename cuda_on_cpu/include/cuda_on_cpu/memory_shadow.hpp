/// @file
/// What is known about memory as a whole: allocations, also those that several processes share, and
/// the arena of a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_on_cpu/findings.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/shadow.hpp"
#include "cuda_on_cpu/words.hpp"

namespace cuda_on_cpu {

// Who has accessed the words of memory that several processes share (cudaIpcGetMemHandle()): each
// process runs its own kernels, and stores what the others need to know next to that memory.

/// What a process says about itself in a word: whoever has read the word may rely on it.
struct PeerMessage {
  Knowledge::Time of_process = 0;  ///< its accesses before are over; 0: nothing was said
  Knowledge::Time of_block = 0;    ///< those of the sender's block
  Knowledge::Time of_thread = 0;   ///< those of the sender
  std::uint32_t process = 0;
  ThreadNumber thread = 0;
};

/// An access as it is remembered for other processes.
struct PeerRecord {
  Knowledge::Time time = 0;
  std::uint32_t process = 0;  ///< 0 for none
  ThreadNumber thread = 0;
  std::uint32_t what = 0;  ///< as in Record

  bool exists() const { return process != 0; }
  /// Whether `what` has a flag.
  bool has(std::uint32_t flag) const { return (what & flag) != 0; }
};

/// Replaces the last record of the same process, or that of another one.
inline void put(std::array<PeerRecord, 2>& places, const PeerRecord& record) {
  auto& [first, second] = places;
  (!first.exists() || first.process == record.process ? first : second) = record;
}

/// What is remembered of a word; all zeros if nothing is.
struct PeerWord {
  std::uint32_t is_locked = 0;
  PeerRecord write;                   ///< the last one
  std::array<PeerRecord, 2> reads{};  ///< the last ones of two processes
  PeerMessage message;                ///< of the last thread that stored it as a flag
  std::uint64_t sent = 0;             ///< declare_sent(): the number ...
  std::uint32_t sent_by = 0;          ///< ... and Record::what of the declaration; 0 for none
  PeerMessage sent_message;
  std::array<PeerRecord, 2> receipts{};  ///< of it, like `reads`
};

/// The words of an allocation. The memory itself is part of the file that the processes share.
class PeerWords {
 public:
  /// How many bytes the words of an allocation of this size take.
  static std::size_t bytes_for(std::size_t bytes) { return (bytes / 4 + 1) * sizeof(PeerWord); }

  /// @param bytes of the allocation.
  PeerWords(int file, std::size_t offset, std::size_t bytes);
  ~PeerWords();
  PeerWords(const PeerWords&) = delete;
  PeerWords& operator=(const PeerWords&) = delete;

  /// Calls function(word) for each word that contains any of these bytes, while no other process
  /// looks at it.
  template <class Function>
  void visit(std::size_t offset, std::size_t bytes, const Function& function) {
    if (words_ == nullptr || bytes == 0) return;
    for (std::size_t i = offset / 4; i <= (offset + bytes - 1) / 4; ++i) {
      lock(words_[i]);
      function(words_[i]);
      __atomic_store_n(&words_[i].is_locked, 0, __ATOMIC_RELEASE);
    }
  }

 private:
  static void lock(PeerWord& word);

  PeerWord* words_ = nullptr;
  std::size_t bytes_;
};

/// Remembers an access, unless it is in a race.
/// @param is_over whether an earlier access of another process is over for the thread of this one.
/// @return an access with which it is in a race, if there is one.
template <class IsOver>
PeerRecord remember(PeerWord& word, const PeerRecord& self, const IsOver& is_over) {
  const auto is_race = [&](const PeerRecord& other) {
    return other.exists() && other.process != self.process && ((self.what | other.what) & Record::writes) != 0 &&
           !(self.has(Record::is_strong) && other.has(Record::is_strong)) && !is_over(other);
  };
  if (is_race(word.write)) return word.write;
  for (const PeerRecord& read : word.reads) {
    if (is_race(read)) return read;
  }
  if (self.has(Record::writes)) {
    word.write = self;
  } else {
    put(word.reads, self);
  }
  return {};
}

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
  bool of_host = false;                 ///< the host can access it, too
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
  /// What is known about the memory at an address, null if it is none that kernels can access.
  GlobalShadow* at_host_call(std::uintptr_t address);
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

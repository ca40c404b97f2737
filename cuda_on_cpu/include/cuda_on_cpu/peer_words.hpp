/// @file
/// Who has accessed the words of memory that several processes share (cudaIpcGetMemHandle()): each
/// process runs its own kernels, and stores what the others need to know next to that memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_on_cpu/happens_before.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/shadow.hpp"

namespace cuda_on_cpu {

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
    return other.exists() && other.process != self.process &&
           ((self.what | other.what) & Record::writes) != 0 &&
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

}  // namespace cuda_on_cpu

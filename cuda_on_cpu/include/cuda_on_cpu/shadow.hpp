/// @file
/// Shadow memory: what is known about each piece of memory that kernels access, and which accesses
/// to it are a race. words.hpp keeps it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>

#include "cuda_on_cpu/happens_before.hpp"

namespace cuda_on_cpu {

/// An access as it is remembered.
struct Record {
  static constexpr std::uint32_t writes = 1;
  static constexpr std::uint32_t is_atomic = 2;
  static constexpr std::uint32_t is_volatile = 4;
  static constexpr std::uint32_t is_strong = is_atomic | is_volatile;

  Time time = 0;  ///< 0 for none
  ThreadNumber thread = 0;
  std::uint32_t what = 0;  ///< the flags above, and the instruction

  bool exists() const { return time != 0; }
  /// Whether one of the flags is set.
  bool has(std::uint32_t flag) const { return (what & flag) != 0; }
};

/// What is remembered of a word or a byte. Of accesses that are ordered before a later one, that
/// later one is enough.
struct Cell {
  Record write;      ///< the last one
  Record others[2];  ///< reads since then; a write of the thread's own before its atomic one
  Time released;     ///< what atomic operations here have made known
};

/// Frees what calloc() has given, whose pages are not there until they are touched.
struct Free {
  void operator()(void* memory) const {
    std::free(memory);  // NOLINT(*-no-malloc): see above
  }
};
/// Memory that is zero, and takes none until it is written.
template <class T>
std::unique_ptr<T[], Free> zeros(std::size_t count) {
  // NOLINTNEXTLINE(*-no-malloc): see above
  return std::unique_ptr<T[], Free>(static_cast<T*>(std::calloc(count, sizeof(T))));
}

/// Which bytes of an allocation have been written.
class WrittenBytes {
 public:
  explicit WrittenBytes(std::size_t bytes) : bytes_(bytes), bits_(zeros<std::uint64_t>(bytes / 64 + 1)) {}

  /// Whether any of these at most 64 bytes has been written.
  bool any(std::size_t offset, unsigned bytes) const {
    if (bits_ == nullptr) return true;
    const std::uint64_t mask = (bytes < 64 ? std::uint64_t{1} << bytes : 0) - 1;
    const std::size_t word = offset / 64;
    const auto shift = static_cast<unsigned>(offset % 64);
    if ((bits_[word] & mask << shift) != 0) return true;
    return shift + bytes > 64 && (bits_[word + 1] & mask >> (64 - shift)) != 0;
  }
  /// All bytes count as written.
  void set_all() { bits_.reset(); }
  /// These bytes have been written.
  void set(std::size_t offset, std::size_t bytes) {
    if (bytes == bytes_) set_all();
    if (bits_ == nullptr) return;
    const std::size_t end = offset + bytes;
    for (std::size_t i = offset; i < end;) {
      const auto shift = static_cast<unsigned>(i % 64);
      const std::size_t count = std::min<std::size_t>(64 - shift, end - i);
      bits_[i / 64] |= ((count < 64 ? std::uint64_t{1} << count : 0) - 1) << shift;
      i += count;
    }
  }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::uint64_t[], Free> bits_;  ///< null if all have been written
};

/// Work in streams, of which the piece that runs is the last.
class Pieces {
 public:
  /// A launch, a copy or a fill.
  struct Piece {
    PieceNumber number;
    Time begin;        ///< its accesses are those from there to where the next piece begins
    std::string what;  ///< "kernel 'fill' (launched in main.cu:12)"
  };

  /// A piece begins, when what the clock knows is over.
  void begin(const PieceNumber& number, const StreamClock& clock, const StreamClock& host, Time now) {
    forget_those_over(host);
    all_.push_back({number, now, {}});
    known_ = clock;
  }
  /// Those of which the host knows that they are over are so for all that comes.
  void forget_those_over(const StreamClock& host) {
    while (!all_.empty() && host.covers(all_.front().number)) all_.pop_front();
  }
  /// When time begins anew.
  void forget_all() { all_.clear(); }
  bool is_empty() const { return all_.empty(); }
  /// The piece that has begun last.
  Piece& last() { return all_.back(); }
  const StreamClock& known() const { return known_; }

  /// The piece that has accessed something at that time; null if it is over for everyone.
  const Piece* at(Time time) const {
    const auto next = std::upper_bound(all_.begin(), all_.end(), time,
                                       [](Time sought, const Piece& piece) { return sought < piece.begin; });
    return next == all_.begin() ? nullptr : &*std::prev(next);
  }
  /// Whether what happened at that time is over for the piece that runs.
  bool is_over(Time time) const {
    const Piece* const piece = at(time);
    return piece == nullptr || known_.covers(piece->number);
  }
  /// When the first piece began that may not be over for the one that runs, or `now`.
  Time first_in_parallel(Time now) const {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const Piece& piece) { return !known_.covers(piece.number); });
    return found == all_.end() ? now : found->begin;
  }
  /// When the first piece began that may not be over for the host or another stream, or `now`.
  Time first(Time now) const { return all_.empty() ? now : all_.front().begin; }

 private:
  std::deque<Piece> all_;
  StreamClock known_;  ///< what is over for the piece that runs
};

/// A thread that has an access, and what it knows to be over.
struct Accessor {
  const BlockClock* clock;
  const Pieces* pieces;
  Time began;                   ///< its launch
  Time over;                    ///< accesses of anyone before that time
  Time over_in_block;           ///< accesses of its block
  Record record;                ///< of the access
  bool needs_lockstep = false;  ///< volatile accesses of its warp are no flags, but what needs lanes in lockstep

  /// Whether that access is known to be over.
  bool is_after(const Record& other) const {
    if (other.time < over) return true;
    if (other.time < began) return pieces->is_over(other.time);
    const ThreadNumber difference = other.thread ^ record.thread;
    if (difference == 0) return true;
    const unsigned thread = record.thread & (max_threads - 1);
    if (difference >> thread_bits == 0) {
      if (other.time < over_in_block) return true;
      const WarpClock& warp = clock->warps[thread / 32];
      if (difference >> 5U == 0 && warp.is_over(other.time, other.thread & 31U, thread & 31U)) {
        return true;
      }
    }
    return clock->knows(thread, 0, other.thread, other.time);
  }
  /// Whether one of the two writes, and not both are atomic.
  bool is_in_conflict_with(const Record& other) const {
    if (((record.what | other.what) & Record::writes) == 0) return false;
    if (!record.has(Record::is_strong) || !other.has(Record::is_strong)) return true;
    // Volatile variables are flags, as a rule.
    return needs_lockstep && (record.what & other.what & Record::is_volatile) != 0 &&
           (record.thread ^ other.thread) >> 5U == 0;
  }
};

/// How far apart two threads are: different blocks, warps, lanes.
inline unsigned distance(const Record& a, const Record& b) {
  const ThreadNumber difference = a.thread ^ b.thread;
  if (difference >> thread_bits != 0) return 3;
  if (difference >> 5U != 0) return 2;
  return difference != 0 ? 1 : 0;
}

/// Whether an atomic access does not stand for a plain write that the same thread has made before:
/// nothing orders that before the atomic accesses of others.
inline bool must_stay(const Record& before, const Accessor& self) {
  return before.thread == self.record.thread && before.time >= self.over_in_block &&
         self.record.has(Record::is_strong) && !before.has(Record::is_strong) && before.has(Record::writes);
}

/// Remembers an access that does not make the others of the cell superfluous.
inline void remember(Cell& cell, const Accessor& self, const Record& added) {
  Record& first = cell.others[0];
  Record& second = cell.others[1];
  for (Record* const other : {&first, &second}) {
    if (!other->exists()) {
      *other = added;
      return;
    }
    if (other->thread == added.thread && other->what == added.what) {
      other->time = added.time;
      return;
    }
    if (self.is_after(*other) && !must_stay(*other, self)) {
      *other = added;
      return;
    }
  }
  const unsigned kept = distance(first, second);
  const unsigned with_first = distance(first, added);
  const unsigned with_second = distance(second, added);
  if (with_first > kept && with_first >= with_second) {
    second = added;
  } else if (with_second > kept) {
    first = added;
  }
}

/// Whether an earlier access exists, is in conflict with this one and not ordered before it.
inline bool is_race(const Record& other, const Accessor& self) {
  return other.exists() && self.is_in_conflict_with(other) && !self.is_after(other);
}
/// Likewise, of those that a cell remembers besides the last write.
inline bool has_other_race(const Cell& cell, const Accessor& self) {
  return is_race(cell.others[0], self) || is_race(cell.others[1], self);
}
/// @return the earlier access that this one is in a race with; null if there is none.
inline const Record* find_race(const Cell& cell, const Accessor& self) {
  if (is_race(cell.write, self)) return &cell.write;
  for (const Record& other : cell.others) {
    if (is_race(other, self)) return &other;
  }
  return nullptr;
}

/// Remembers an access that is in no race.
inline void add(Cell& cell, const Accessor& self) {
  if (!self.record.has(Record::writes)) {
    if (cell.others[0].thread == self.record.thread && cell.others[0].what == self.record.what) {
      cell.others[0].time = self.record.time;
    } else {
      remember(cell, self, self.record);
    }
    return;
  }
  const Record before = cell.write;
  cell.write = self.record;
  if (!self.record.has(Record::is_strong)) {
    cell.others[0] = cell.others[1] = {};  // they are ordered before this one
    return;
  }
  for (Record& other : cell.others) {
    if (other.exists() && self.is_after(other) && !must_stay(other, self)) other = {};
  }
  // Atomic accesses of others need not: whoever has had his own since then, and no one else, may be
  // the last of them, who starts afresh.
  if (before.exists() && must_stay(before, self)) remember(cell, self, before);
}

}  // namespace cuda_on_cpu

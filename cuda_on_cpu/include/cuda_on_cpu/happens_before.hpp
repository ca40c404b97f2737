/// @file
/// Happens-before: which of a thread's accesses are over, for certain, when another thread goes on.
///
/// Kernels run on one OS thread while they are watched, so that all that happens has an order, and
/// a time: the number of events so far that order accesses. A barrier at time t orders all accesses
/// before t. So a clock of one thread says, of each other thread, up to which time its accesses are
/// known to be over; and since most events are about a whole block or a whole warp, few times say
/// it all. Only lanes of a warp that wait for some of the others need vector clocks, and words that
/// threads send each other a sparse one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "cuda_on_cpu/block.hpp"

namespace cuda_on_cpu {

/// How many events have ordered accesses so far. 0 is before everything.
using Time = std::uint32_t;

/// A thread of a launch: the number of its block, then its own in the block.
using ThreadNumber = std::uint32_t;
inline constexpr unsigned thread_bits = 10;  // for max_threads
/// Of more blocks than that, several have one number: races between these are not seen.
inline constexpr std::uint32_t max_blocks = 1U << (32 - thread_bits);

/// Whose accesses: those of a process, of one of its blocks, or of one thread. Each process numbers
/// all processes in its own way; its own number is 0.
class Whose {
 public:
  /// All those of a process.
  static constexpr Whose process(unsigned process) { return Whose(process, 0); }
  /// Those of the block of a thread.
  static constexpr Whose block(unsigned process, std::uint32_t thread) {
    return Whose(process, 1 + (std::uint64_t{thread >> thread_bits} << (thread_bits + 1)));
  }
  /// Those of one thread.
  static constexpr Whose thread(unsigned process, std::uint32_t thread) {
    return Whose(process, block(0, thread).bits_ + 1 + (thread & ((1U << thread_bits) - 1)));
  }
  constexpr bool is_of_this_process() const { return bits_ >> process_shift == 0; }
  constexpr bool operator==(const Whose&) const = default;
  constexpr bool operator<(const Whose& other) const { return bits_ < other.bits_; }

 private:
  static constexpr unsigned process_shift = 40;
  constexpr Whose(unsigned process, std::uint64_t who) : bits_(std::uint64_t{process} << process_shift | who) {}

  std::uint64_t bits_;
};

/// Up to when accesses are known to be over.
class Knowledge {
 public:
  using Time = std::uint64_t;

 private:
  using Entries = std::vector<std::pair<Whose, Time>>;

  template <class Any>
  static auto place_of(Any& entries, Whose whose) {
    return std::lower_bound(entries.begin(), entries.end(), whose,
                            [](const auto& entry, Whose sought) { return entry.first < sought; });
  }

 public:
  bool is_empty() const { return entries_.empty(); }
  /// Whether that thread's access at that time is over.
  bool covers(unsigned process, std::uint32_t thread, Time time) const {
    return time < until(Whose::process(process)) || time < until(Whose::block(process, thread)) ||
           time < until(Whose::thread(process, thread));
  }
  /// Adds that those accesses are over up to a time.
  void learn(Whose whose, Time until) {
    const auto found = place_of(entries_, whose);
    if (found == entries_.end() || found->first != whose) {
      entries_.insert(found, {whose, until});
    } else {
      found->second = std::max(found->second, until);
    }
  }
  /// Adds all that another knows.
  void learn(const Knowledge& other) {
    for (const auto& [whose, until] : other.entries_) learn(whose, until);
  }
  /// What it says of other processes.
  Knowledge of_others() const {
    Knowledge others;
    for (const auto& [whose, until] : entries_) {
      if (!whose.is_of_this_process()) others.learn(whose, until);
    }
    return others;
  }

 private:
  Time until(Whose whose) const {
    const auto found = place_of(entries_, whose);
    return found != entries_.end() && found->first == whose ? found->second : 0;
  }

  Entries entries_;  ///< sorted
};

/// What the lanes of a warp know about each other.
struct WarpClock {
  using Row = std::array<Time, 32>;  ///< what a lane knows about the others

  Time together = 0;  ///< when all lanes were last at the same exchange
  std::unique_ptr<std::array<Row, 32>> rows;

  /// Whether another lane's access of that time is over for a lane.
  bool is_over(Time time, unsigned other, unsigned lane) const {
    return time < together || (rows != nullptr && time < (*rows)[lane][other]);
  }

  /// Time begins anew.
  void forget() {
    together = 0;
    if (rows != nullptr) *rows = {};
  }

  /// These lanes have met: what one of them knew, all know now. Where the host has no memory, all
  /// lanes count as having met.
  void meet(unsigned lanes, unsigned all, Time now) {
    if (lanes != all && rows == nullptr) rows.reset(new (std::nothrow) std::array<Row, 32>{});
    if (lanes == all || rows == nullptr) {
      together = now;
      return;
    }
    Row known{};
    for_lanes(lanes, [&](unsigned lane) {
      for (unsigned other = 0; other < 32; ++other) {
        known[other] = std::max(known[other], (*rows)[lane][other]);
      }
    });
    for_lanes(lanes, [&](unsigned lane) { known[lane] = now; });
    for_lanes(lanes, [&](unsigned lane) { (*rows)[lane] = known; });
  }
};

/// What the threads of a block know.
struct BlockClock {
  std::uint32_t number = 0;   ///< of the block
  Time barrier = 0;           ///< when all its threads last met
  Time fence = 0;             ///< when one of them last executed a __threadfence()
  Time acquired_by_all = 0;   ///< like `acquired`
  bool has_acquired = false;  ///< whether `acquired` or `received` was ever set
  std::array<WarpClock, max_warps> warps;
  /// By atomic operations: the accesses of all threads before that time are over.
  std::array<Time, max_threads> acquired{};
  /// From words that others have sent: what each thread knows, and what all threads know.
  std::map<unsigned, Knowledge> received;
  Knowledge received_by_all;

  /// The block begins.
  void start(std::uint32_t block_number, Time now) {
    number = block_number;
    barrier = now;
    fence = 0;
    acquired_by_all = 0;
    if (has_acquired) acquired.fill(0);
    has_acquired = false;
    received.clear();
    received_by_all = {};
  }

  /// Time begins anew, and all accesses so far are forgotten.
  void forget() {
    start(number, 0);
    for (WarpClock& warp : warps) warp.forget();
  }

  /// All threads of the block have met.
  void pass_barrier(Time now) {
    barrier = now;
    if (!has_acquired) return;
    acquired_by_all = std::max(acquired_by_all, *std::max_element(acquired.begin(), acquired.end()));
    for (const auto& [thread, known] : received) received_by_all.learn(known);
    received.clear();
  }

  /// These lanes of a warp have met.
  void meet(unsigned warp, unsigned lanes, unsigned all, Time now) {
    warps[warp].meet(lanes, all, now);
    if (!has_acquired) return;
    Time* const of_warp = &acquired[std::size_t{warp} * 32];
    Time latest = 0;
    for_lanes(lanes, [&](unsigned lane) { latest = std::max(latest, of_warp[lane]); });
    for_lanes(lanes, [&](unsigned lane) { of_warp[lane] = latest; });
    if (received.empty()) return;
    Knowledge of_all;
    for_lanes(lanes, [&](unsigned lane) {
      if (const auto found = received.find(warp * 32 + lane); found != received.end()) {
        of_all.learn(found->second);
      }
    });
    if (of_all.is_empty()) return;
    for_lanes(lanes, [&](unsigned lane) { received[warp * 32 + lane] = of_all; });
  }

  /// What was over at that time is over for this thread, too.
  void acquire(unsigned thread, Time time) {
    if (time <= acquired[thread]) return;
    acquired[thread] = time;
    has_acquired = true;
  }

  /// A thread has received a word.
  void learn(unsigned thread, const Knowledge& known) {
    received[thread].learn(known);
    has_acquired = true;
  }
  /// Whether it knows from such words that another thread's access at that time is over.
  bool knows(unsigned thread, unsigned process, ThreadNumber other, Knowledge::Time time) const {
    if (!has_acquired) return false;
    if (received_by_all.covers(process, other, time)) return true;
    const auto found = received.find(thread);
    return found != received.end() && found->second.covers(process, other, time);
  }
  /// All that a thread knows from such words.
  Knowledge known_to(unsigned thread) const {
    Knowledge all = received_by_all;
    if (const auto found = received.find(thread); found != received.end()) all.learn(found->second);
    return all;
  }
  /// All that any thread of the block knows from them.
  Knowledge known_to_any() const {
    Knowledge all = received_by_all;
    for (const auto& [thread, known] : received) all.learn(known);
    return all;
  }
};

}  // namespace cuda_on_cpu

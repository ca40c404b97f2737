/// @file
/// What a thread knows to be over from words that others have sent it: a vector clock, sparse since
/// such words are few.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cuda_on_cpu {

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
  static constexpr unsigned thread_bits = 10;
  static constexpr unsigned process_shift = 40;
  constexpr Whose(unsigned process, std::uint64_t who)
      : bits_(std::uint64_t{process} << process_shift | who) {}

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

}  // namespace cuda_on_cpu

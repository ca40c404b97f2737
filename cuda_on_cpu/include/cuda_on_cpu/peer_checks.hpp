/// @file
/// Races between processes, in memory that they share. Flags in that memory order their accesses:
/// stores that release and loads that acquire, stores after a __threadfence_system() and loads
/// before one, and words that are declared (declare.h). What MPI orders is not seen, so only
/// processes that have seen each other's flags are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_on_cpu/findings.hpp"
#include "cuda_on_cpu/memory_shadow.hpp"

namespace cuda_on_cpu {

/// A thread of this process that accesses such memory.
struct PeerAccessor {
  BlockClock* clock;
  unsigned thread;
  Time now;
  Time before_all;  ///< all accesses of this process before that time are over

  ThreadNumber number() const { return clock->number << thread_bits | thread; }
};

/// See the top of the file.
class PeerChecks {
 public:
  /// @return what the access is in a race with, if anything.
  PeerRecord check(PeerWords& words, std::size_t offset, const Access& access, const PeerAccessor& self);
  /// A copy of these bytes by the host, which may look at flags.
  /// @return what it is in a race with, if anything.
  PeerRecord copied(PeerWords& words, std::size_t offset, std::size_t bytes, bool writes, Time now);
  /// A fence: what the thread has read by loads that acquire nothing by themselves counts now.
  void fenced(const PeerAccessor& self);
  /// declare_sent().
  /// @return the receipt of the number before, if the sender does not know of it.
  PeerRecord sent(PeerWords& words, std::size_t offset, const Sent& sent, const PeerAccessor& self);
  /// declare_received(). If the number is the last one sent, the receiver learns from it.
  /// @param what Record::what of the declaration.
  SentNumber received(PeerWords& words, std::size_t offset, std::uint64_t number, std::uint32_t what,
                      const PeerAccessor& self);
  /// What a block has learnt of other processes is known to everything that comes after it.
  void absorb(const BlockClock& clock) { known_.learn(clock.known_to_any().of_others()); }
  /// This process's time begins anew; other processes do not notice.
  void begin_anew(Time past) { past_ += past; }

 private:
  struct Process {
    std::uint32_t id;
    bool sets_flags = false;  ///< this process has seen one
  };

  unsigned number_of(std::uint32_t process);
  /// Whether an access is over for all of this process, or nothing can be said about it.
  bool is_over(const PeerRecord& other) const;
  /// Likewise, for this thread.
  bool is_over(const PeerRecord& other, const PeerAccessor& self);
  PeerMessage message(const PeerAccessor& self, Time of_block, Time of_thread) const;
  Knowledge known_by(const PeerMessage& message);

  std::vector<Process> processes_;  ///< others; number i + 1
  Knowledge known_;                 ///< of their accesses, to the whole process
  Knowledge::Time past_ = 0;
  Knowledge found_;  ///< by loads that await a fence
  const BlockClock* found_by_ = nullptr;
  unsigned found_by_thread_ = 0;
};

}  // namespace cuda_on_cpu

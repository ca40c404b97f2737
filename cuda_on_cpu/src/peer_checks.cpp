#include "cuda_on_cpu/peer_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <unistd.h>

#include "cuda_on_cpu/findings.hpp"

namespace cuda_on_cpu {
namespace {

std::uint32_t own_process() { return static_cast<std::uint32_t>(getpid()); }

}  // namespace

unsigned PeerChecks::number_of(std::uint32_t process) {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].id == process) return static_cast<unsigned>(i) + 1;
  }
  processes_.push_back({process});
  return static_cast<unsigned>(processes_.size());
}

bool PeerChecks::is_over(const PeerRecord& other) const {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].id == other.process) {
      return !processes_[i].sets_flags || known_.covers(static_cast<unsigned>(i) + 1, other.thread, other.time);
    }
  }
  return true;
}

bool PeerChecks::is_over(const PeerRecord& other, const PeerAccessor& self) {
  return other.process == own_process() || is_over(other) ||
         self.clock->knows(self.thread, number_of(other.process), other.thread, other.time);
}

PeerMessage PeerChecks::message(const PeerAccessor& self, Time of_block, Time of_thread) const {
  return {past_ + self.before_all, past_ + of_block, past_ + of_thread, own_process(), self.number()};
}

Knowledge PeerChecks::known_by(const PeerMessage& message) {
  Knowledge known;
  if (message.of_process == 0 || message.process == own_process()) return known;
  const unsigned process = number_of(message.process);
  known.learn(Whose::process(process), message.of_process);
  known.learn(Whose::block(process, message.thread), message.of_block);
  known.learn(Whose::thread(process, message.thread), message.of_thread);
  return known;
}

PeerRecord PeerChecks::check(PeerWords& words, std::size_t offset, const Access& access, const PeerAccessor& self) {
  BlockClock& clock = *self.clock;
  const bool is_flag = access.is_atomic || access.is_volatile;
  // These are reported before they read, so what they will find is not known yet.
  const bool is_early = access.is_volatile || (access.is_atomic && access.writes);
  const PeerRecord record{past_ + self.now, own_process(), self.number(), to_what(access)};
  PeerMessage said;
  if (is_flag && access.writes && (access.releases || clock.fence != 0)) {
    said = access.releases ? message(self, clock.barrier, self.now + 1)
                           : message(self, std::min(clock.barrier, clock.fence), clock.fence);
  }
  PeerRecord race;
  Knowledge found;
  words.visit(offset, access.bytes, [&](PeerWord& word) {
    const bool is_of_other = word.write.exists() && word.write.process != own_process();
    if (is_flag && is_of_other && !is_copy(word.write.what)) {
      const unsigned process = number_of(word.write.process);
      processes_[process - 1].sets_flags = true;
      if (is_early && access.reads) {
        found.learn(Whose::process(process), std::numeric_limits<Knowledge::Time>::max());
      }
    }
    if (is_flag && access.reads) found.learn(known_by(word.message));
    if (!race.exists()) {
      race = remember(word, record, [&](const PeerRecord& other) { return is_over(other, self); });
    }
    if (said.of_process != 0) word.message = said;
  });
  if (found.is_empty()) return race;
  if (access.acquires || is_early) {
    clock.learn(self.thread, found);
  } else {
    if (found_by_ != &clock || found_by_thread_ != self.thread) found_ = {};
    found_by_ = &clock;
    found_by_thread_ = self.thread;
    found_.learn(found);
  }
  return race;
}

PeerRecord PeerChecks::copied(PeerWords& words, std::size_t offset, std::size_t bytes, bool writes, Time now) {
  constexpr ThreadNumber of_host = ~ThreadNumber{0};
  const PeerRecord record{past_ + now, own_process(), of_host, Record::is_volatile | (writes ? Record::writes : 0)};
  PeerRecord race;
  words.visit(offset, bytes, [&](PeerWord& word) {
    if (race.exists()) return;
    race = remember(word, record, [&](const PeerRecord& other) { return is_over(other); });
  });
  return race;
}

void PeerChecks::fenced(const PeerAccessor& self) {
  if (found_by_ != self.clock || found_by_thread_ != self.thread) return;
  self.clock->learn(self.thread, found_);
}

PeerRecord PeerChecks::sent(PeerWords& words, std::size_t offset, const Sent& sent, const PeerAccessor& self) {
  PeerRecord unknown;
  words.visit(offset, 1, [&](PeerWord& word) {
    for (const PeerRecord& receipt : word.receipts) {
      if (receipt.exists() && !is_over(receipt, self)) unknown = receipt;
    }
    word.receipts = {};
    word.sent = sent.number;
    word.sent_by = what_of(sent.instruction);
    word.sent_message = message(self, self.clock->barrier, self.now + 1);
  });
  return unknown;
}

SentNumber PeerChecks::received(PeerWords& words, std::size_t offset, std::uint64_t number, std::uint32_t what,
                                const PeerAccessor& self) {
  SentNumber last;
  Knowledge known;
  words.visit(offset, 1, [&](PeerWord& word) {
    if (word.sent_by == 0) return;
    last = {true, word.sent, to_instruction(word.sent_by)};
    known = known_by(word.sent_message);
    if (word.sent == number) put(word.receipts, {past_ + self.now, own_process(), self.number(), what});
  });
  if (last.exists && last.number == number) self.clock->learn(self.thread, known);
  return last;
}

}  // namespace cuda_on_cpu

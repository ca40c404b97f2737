/// @file
/// Finds mistakes in how kernels access memory: races, which are accesses of two threads to the
/// same byte that nothing orders, at least one of which writes and not both of which are atomic;
/// reads of what nobody has written; and accesses outside of allocations and of __shared__
/// variables.
///
/// Blocks run one after another, and threads of a block in turns; so each race is seen when the
/// later of its two accesses comes, provided that the earlier one is still remembered. Of accesses
/// that are not ordered, at most three are, those farthest from each other in the grid.
///
/// Not seen are:
///  - a memcpy() of a few bytes that g++ compiles into moves,
///  - what other processes, MPI for example, write into device memory: it counts as unwritten,
///  - accesses to memory that kernels allocate by malloc(),
///  - launches in different streams that nothing orders.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda_on_cpu/fiber.hpp"
#include "cuda_on_cpu/findings.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/shadow.hpp"

namespace cuda_on_cpu {
namespace {

/// What is known about an allocation, or about the program's variables.
struct GlobalShadow {
  GlobalShadow(std::uintptr_t begin_address, std::size_t size, bool is_fresh, CellPool& pool)
      : begin(begin_address), bytes(size), written(is_fresh ? size : 0), cells(begin, size, pool) {
    if (!is_fresh) written.set_all();
  }

  bool contains(std::uintptr_t address, unsigned size) const {
    return address - begin < bytes && address - begin + size <= bytes;
  }

  std::uintptr_t begin;
  std::size_t bytes;
  WrittenBytes written;
  CellTable cells;
};

/// What is known about an arena and the block that runs in it.
struct BlockShadow {
  BlockShadow(const Arena& arena, CellPool& pool)
      : begin(reinterpret_cast<std::uintptr_t>(arena.pages())),
        bytes(arena.page_bytes()),
        state(bytes + 16),
        cells(begin, bytes, pool) {}

  enum State : std::uint8_t { outside, unwritten, written };

  void place(const char* name, std::uintptr_t address, std::size_t size) {
    variables.push_back({name, address, size});
    std::memset(&state[address - begin], unwritten, size);
  }
  void start() {
    for (const SharedVariable& variable : variables) {
      std::memset(&state[variable.begin - begin], outside, variable.bytes);
    }
    variables.clear();
  }

  std::uintptr_t begin;
  std::size_t bytes;
  std::vector<std::uint8_t> state;  ///< of each byte
  std::vector<SharedVariable> variables;
  CellTable cells;
  BlockClock clock;
};

/// A thread that has an access, and what it knows to be over.
struct Accessor {
  const BlockClock* clock;
  Time over;           ///< accesses of anyone before that time
  Time over_in_block;  ///< accesses of its block
  Record record;       ///< of the access

  bool is_after(const Record& other) const {
    if (other.time < over) return true;
    const ThreadNumber difference = other.thread ^ record.thread;
    if (difference == 0) return true;
    if (difference >> thread_bits != 0) return false;
    if (other.time < over_in_block) return true;
    if (difference >> 5U != 0) return false;
    const unsigned warp = (record.thread & (max_threads - 1)) / 32;
    return clock->warps[warp].is_over(other.time, other.thread & 31U, record.thread & 31U);
  }
  bool is_in_conflict_with(const Record& other) const {
    // Volatile variables are flags.
    constexpr std::uint32_t strong = Record::is_atomic | Record::is_volatile;
    return ((record.what | other.what) & Record::writes) != 0 &&
           !(record.has(strong) && other.has(strong));
  }
};

/// How far apart two threads are: different blocks, warps, lanes.
unsigned distance(const Record& a, const Record& b) {
  const ThreadNumber difference = a.thread ^ b.thread;
  return difference >> thread_bits != 0 ? 3
                                        : (difference >> 5U != 0 ? 2 : (difference != 0 ? 1 : 0));
}

/// Whether an atomic access does not stand for one that the same thread has made before: that one,
/// being neither atomic nor ordered, may be in conflict with atomic accesses of others.
bool must_stay(const Record& before, const Accessor& self) {
  constexpr std::uint32_t strong = Record::is_atomic | Record::is_volatile;
  return before.thread == self.record.thread && before.time >= self.over_in_block &&
         self.record.has(strong) && !before.has(strong);
}

/// Remembers an access that does not make the others of the cell superfluous.
void remember(Cell& cell, const Accessor& self, const Record& added) {
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

bool is_race(const Record& other, const Accessor& self) {
  return other.exists() && self.is_in_conflict_with(other) && !self.is_after(other);
}
bool has_other_race(const Cell& cell, const Accessor& self) {
  return is_race(cell.others[0], self) || is_race(cell.others[1], self);
}
/// @return the earlier access that this one is in a race with; null if there is none.
const Record* find_race(const Cell& cell, const Accessor& self) {
  if (is_race(cell.write, self)) return &cell.write;
  for (const Record& other : cell.others) {
    if (is_race(other, self)) return &other;
  }
  return nullptr;
}

void add(Cell& cell, const Accessor& self) {
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
  if (!self.record.has(Record::is_atomic | Record::is_volatile)) {
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

/// See the top of the file.
class CheckingObserver final : public Observer {
 public:
  CheckingObserver() { watches_variables = true; }

  void start_launch(const RunningLaunch& launch) override {
    launch_ = &launch;
    global_cells_.reset();  // launches are ordered
    unwritten_read_ = {};
    suspicion_ = {};
    if (now_ > ~Time{0} / 2) {  // begins anew
      now_ = 0;
      shared_cells_.reset();
      blocks_.clear();
      last_block_ = nullptr;
    }
    before_all_ = advance();
  }
  void end_launch(RunningLaunch& /*launch*/) override { last_block_ = nullptr; }

  void start_block(const Block& block) override {
    std::unique_ptr<BlockShadow>& shadow = blocks_[block.arena];
    if (shadow == nullptr) shadow = std::make_unique<BlockShadow>(*block.arena, shared_cells_);
    last_block_ = &block;
    last_shadow_ = shadow.get();
    shadow->clock.start(static_cast<std::uint32_t>(number_of(block)) & (max_blocks - 1), advance());
    shadow->start();
    const std::size_t dynamic = launch_->configuration.shared;
    if (dynamic > 0) {
      shadow->place(nullptr, reinterpret_cast<std::uintptr_t>(block.arena->table.dynamic), dynamic);
    }
  }
  void placed(const Block& block, const char* name, const char* begin, std::size_t bytes) override {
    shadow_of(block).place(name, reinterpret_cast<std::uintptr_t>(begin), bytes);
  }

  void passed_barrier(const Block& block) override {
    report_late();
    shadow_of(block).clock.pass_barrier(advance());
  }
  void synchronized(const Block& block, unsigned warp, unsigned lanes) override {
    settle();
    const unsigned count = std::min(32U, block.threads - warp * 32);
    const unsigned all = count == 32 ? ~0U : (1U << count) - 1U;
    shadow_of(block).clock.meet(warp, lanes, all, advance());
  }
  void ordered_otherwise() override {
    report_late();
    before_all_ = advance();
  }
  void fenced(const Block& block) override { shadow_of(block).clock.fence = advance(); }
  void thread_exited(const Block& block, unsigned /*thread*/) override {
    settle();
    if (block.exited == block.threads) report_unwritten();
  }

  void allocated(std::uintptr_t begin, std::size_t bytes) override;
  void freed(std::uintptr_t begin) override;
  void filled(std::uintptr_t begin, std::size_t bytes) override;

  void access(const Fiber& fiber, const Access& access) override {
    if (suspicion_.bytes != 0) [[unlikely]]
      settle(fiber, access);
    BlockShadow& block = shadow_of(*fiber.block);
    if (access.is_shared()) {
      check_shared(fiber, block, access);
    } else if (GlobalShadow* const memory = shadow_of(*access.range); memory != nullptr) {
      check_global(fiber, block, *memory, access);
    }
  }

 private:
  /// A read of what nobody has written until then. It waits until the block's next barrier: a write
  /// that comes late makes a race of it, which tells more.
  struct UnwrittenRead {
    Culprit culprit;
    std::uintptr_t address = 0;  ///< 0 if there is none
    bool is_shared;
  };

  /// A race that the thread's next step may show to be none.
  struct Suspicion {
    Culprit later;
    Culprit earlier;
    std::uintptr_t address;
    unsigned bytes = 0;  ///< 0 if there is none
    std::array<char, 16> before;
  };
  /// Two things are right although the language calls them races. Threads may write the same value,
  /// `*found = true`. And what an atomic function of one's own begins with, a plain read of what
  /// others change atomically, only has to be a good guess for its atomicCAS().
  static bool may_be_right(const Cell& cell, const Record* race, const Record& later) {
    constexpr std::uint32_t strong = Record::is_atomic | Record::is_volatile;
    if (race != &cell.write || later.has(strong)) return false;
    return later.has(Record::writes) != race->has(strong);
  }
  /// The running thread has come to its next access: was that what it was suspected of?
  void settle(const Fiber& fiber, const Access& next) {
    const bool is_same_thread = fiber.thread == suspicion_.later.thread;
    if (!suspicion_.later.writes && is_same_thread) {
      if (!next.is_atomic) return;
      if (next.address == suspicion_.address) {
        suspicion_ = {};
        return;
      }
    }
    // Parts of one copy are told of before it is made.
    if (suspicion_.later.writes && next.instruction == suspicion_.later.instruction &&
        is_same_thread && next.address == suspicion_.address + suspicion_.bytes) {
      return;
    }
    settle();
  }
  void settle() {
    if (suspicion_.bytes == 0) return;
    const Suspicion found = std::exchange(suspicion_, {});
    if (found.later.writes && std::memcmp(reinterpret_cast<const void*>(found.address),
                                          found.before.data(), found.bytes) == 0) {
      return;
    }
    end_by_race(found.later, found.earlier);
  }

  Time advance() {
    if (now_ == ~Time{0}) is_exhausted_ = true;
    return is_exhausted_ ? now_ : ++now_;
  }

  static std::uint64_t number_of(const Block& block) {
    return block.index.x +
           std::uint64_t{gridDim.x} * (block.index.y + std::uint64_t{gridDim.y} * block.index.z);
  }

  BlockShadow& shadow_of(const Block& block) {
    if (&block != last_block_) {
      last_block_ = &block;
      last_shadow_ = blocks_.find(block.arena)->second.get();
    }
    return *last_shadow_;
  }
  GlobalShadow* shadow_of(const MemoryRange& range) {
    const std::size_t i = range.number - first_known_;
    if (i < known_.size() && known_[i] != nullptr) return known_[i];
    return look_up(range);
  }
  GlobalShadow* look_up(const MemoryRange& range);

  void check_shared(const Fiber& fiber, BlockShadow& block, const Access& access) {
    const std::uint8_t* const state = &block.state[access.address - block.begin];
    bool is_inside = true;
    bool is_written = false;
    for (unsigned i = 0; i < access.bytes; ++i) {
      is_inside = is_inside && state[i] != BlockShadow::outside;
      is_written = is_written || state[i] == BlockShadow::written;
    }
    if (!is_inside) [[unlikely]]
      end_outside(fiber, block, access);
    if (access.writes)
      std::memset(&block.state[access.address - block.begin], BlockShadow::written, access.bytes);
    check_races(fiber, block, block.cells, access);
    if (access.reads && !is_written) [[unlikely]]
      note_unwritten(fiber, access);
  }

  void check_global(const Fiber& fiber, BlockShadow& block, GlobalShadow& memory,
                    const Access& access) {
    if (!memory.contains(access.address, access.bytes)) [[unlikely]] {
      const std::uintptr_t end = memory.begin + memory.bytes;
      const bool runs_over = access.address >= memory.begin && access.address < end;
      end_beyond_allocation(culprit_of(fiber, access), runs_over ? end : access.address);
    }
    const std::size_t offset = access.address - memory.begin;
    const bool is_written = !access.reads || memory.written.any(offset, access.bytes);
    if (access.writes) memory.written.set(offset, access.bytes);
    check_races(fiber, block, memory.cells, access);
    if (!is_written) [[unlikely]]
      note_unwritten(fiber, access);
  }

  void check_races(const Fiber& fiber, BlockShadow& block, CellTable& cells, const Access& access) {
    if (is_exhausted_) return;
    BlockClock& clock = block.clock;
    Accessor self{};
    self.clock = &clock;
    self.over = std::max({before_all_, clock.acquired_by_all, clock.acquired[fiber.thread]});
    self.over_in_block = std::max(self.over, clock.barrier);
    if (access.is_shared()) self.over = self.over_in_block;
    self.record = {now_, clock.number << thread_bits | fiber.thread, to_what(access)};
    const bool orders = access.is_atomic || access.is_volatile;
    if (orders && access.address == unwritten_read_.address &&
        fiber.thread == unwritten_read_.culprit.thread) {
      report_unwritten();  // it may go on asking for ever
    }
    Time seen = 0;
    Record earlier;
    bool is_certain = false;
    const Time over = self.over;
    cells.visit(access.address, access.bytes, [&](Cell& cell) {
      if (orders) self.over = std::max(over, cell.released);
      if (const Record* const race = find_race(cell, self); race != nullptr) [[unlikely]] {
        if (!earlier.exists()) earlier = *race;
        is_certain = is_certain || !may_be_right(cell, race, self.record) ||
                     (self.record.has(Record::writes) && has_other_race(cell, self));
        if (is_certain) return false;
      }
      add(cell, self);
      if (orders) [[unlikely]] {
        seen = std::max(seen, cell.released);
        if (access.writes) {
          const Time released = access.releases ? now_ + 1 : clock.fence;
          cell.released = std::max(cell.released, released);
        }
      }
      return true;
    });
    if (earlier.exists()) [[unlikely]] {
      found_race(access, culprit_of(fiber, access), to_culprit(earlier, clock, fiber), is_certain);
    }
    if (orders) [[unlikely]] {
      if (access.reads || access.is_atomic) clock.acquire(fiber.thread, seen);
      if (access.releases) advance();
    }
  }

  void found_race(const Access& access, const Culprit& later, const Culprit& earlier,
                  bool is_certain) {
    if (is_certain) end_by_race(later, earlier);
    if (suspicion_.bytes != 0) return;  // parts of one copy
    suspicion_ = {later, earlier, access.address, access.bytes, {}};
    std::memcpy(suspicion_.before.data(), reinterpret_cast<const void*>(access.address),
                access.bytes);
  }

  void note_unwritten(const Fiber& fiber, const Access& access) {
    if (unwritten_read_.address == 0) {
      unwritten_read_ = {culprit_of(fiber, access), access.address, access.is_shared()};
    }
  }
  void report_late() {
    settle();
    report_unwritten();
  }
  void report_unwritten() {
    if (unwritten_read_.address == 0) return;
    const UnwrittenRead read = std::exchange(unwritten_read_, {});
    end_by_unwritten(read.culprit, read.address, read.is_shared);
  }

  [[noreturn]] void end_outside(const Fiber& fiber, const BlockShadow& block, const Access& access);

  static Culprit culprit_of(const Fiber& fiber, const Access& access) {
    return {number_of(*fiber.block), fiber.thread, access.instruction, access.writes,
            access.is_atomic};
  }
  static Culprit to_culprit(const Record& record, const BlockClock& clock, const Fiber& fiber) {
    const std::uint32_t block = record.thread >> thread_bits;
    return {block == clock.number ? number_of(*fiber.block) : block,
            record.thread & (max_threads - 1), to_instruction(record.what),
            record.has(Record::writes), record.has(Record::is_atomic)};
  }

  /// Instructions are remembered by how far they are from this one.
  static std::uintptr_t anchor() {
    return reinterpret_cast<std::uintptr_t>(&make_checking_observer);
  }
  static std::uint32_t to_what(const Access& access) {
    return static_cast<std::uint32_t>(access.instruction - anchor()) << 3U |
           (access.writes ? Record::writes : 0) | (access.is_atomic ? Record::is_atomic : 0) |
           (access.is_volatile ? Record::is_volatile : 0);
  }
  static std::uintptr_t to_instruction(std::uint32_t what) {
    return anchor() +
           static_cast<std::uintptr_t>(std::intptr_t{static_cast<std::int32_t>(what) >> 3});
  }

  const RunningLaunch* launch_ = nullptr;
  Time now_ = 0;
  bool is_exhausted_ = false;  ///< there are no more times: nothing is checked any more
  Time before_all_ = 0;        ///< all accesses before that time are over
  UnwrittenRead unwritten_read_;
  Suspicion suspicion_;

  CellPool global_cells_;
  CellPool shared_cells_;
  std::unordered_map<const Arena*, std::unique_ptr<BlockShadow>> blocks_;
  const Block* last_block_ = nullptr;
  BlockShadow* last_shadow_ = nullptr;

  std::mutex mutex_;  ///< of the map: the host may allocate while a kernel runs
  std::map<std::uintptr_t, std::unique_ptr<GlobalShadow>> allocations_;
  std::vector<GlobalShadow*> known_;  ///< by the numbers of ranges
  unsigned first_known_ = 0;
  std::uint64_t known_frees_ = 0;
};

void CheckingObserver::allocated(std::uintptr_t begin, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  allocations_[begin] = std::make_unique<GlobalShadow>(begin, bytes, true, global_cells_);
}

void CheckingObserver::freed(std::uintptr_t begin) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(begin);
}

void CheckingObserver::filled(std::uintptr_t begin, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto next = allocations_.upper_bound(begin);
  if (next == allocations_.begin()) return;
  GlobalShadow& memory = *std::prev(next)->second;
  if (begin - memory.begin >= memory.bytes) return;
  memory.written.set(begin - memory.begin, std::min(bytes, memory.begin + memory.bytes - begin));
}

/// @return null for memory that has been freed: the access is a fault, which is reported. Also
/// where the host has no memory: an exception must not leave a fiber.
GlobalShadow* CheckingObserver::look_up(const MemoryRange& range) try {
  std::uintptr_t begin = range.begin;
  std::size_t bytes = range.end - range.begin;
  if (!range.of_variables) {
    const std::optional<Allocation> found = find_allocation(range.begin);
    if (!found || found->freed) return nullptr;
    begin = found->begin;
    bytes = found->bytes;
  }
  const std::lock_guard lock(mutex_);
  std::unique_ptr<GlobalShadow>& memory = allocations_[begin];
  if (memory == nullptr) {
    memory = std::make_unique<GlobalShadow>(begin, bytes, false, global_cells_);
  }
  if (known_frees_ != frees || known_.empty()) {  // ranges have new numbers
    known_frees_ = frees;
    known_.clear();
    first_known_ = range.number;
  }
  if (range.number < first_known_) return memory.get();
  if (range.number - first_known_ >= known_.size()) known_.resize(range.number - first_known_ + 1);
  return known_[range.number - first_known_] = memory.get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

void CheckingObserver::end_outside(const Fiber& fiber, const BlockShadow& block,
                                   const Access& access) {
  std::uintptr_t address = access.address;
  while (block.state[address - block.begin] != BlockShadow::outside) ++address;
  const SharedVariable* nearest = nullptr;
  std::uintptr_t least = ~std::uintptr_t{0};
  for (const SharedVariable& variable : block.variables) {
    const std::uintptr_t distance = address < variable.begin
                                        ? variable.begin - address
                                        : address - variable.begin - variable.bytes;
    if (distance >= least) continue;
    least = distance;
    nearest = &variable;
  }
  end_beyond_variable(culprit_of(fiber, access), address, nearest);
}

}  // namespace

Observer* make_checking_observer() {
  return new CheckingObserver;  // kernels may run until the end
}

}  // namespace cuda_on_cpu

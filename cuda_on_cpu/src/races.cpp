/// @file
/// Finds mistakes in how kernels access memory: races, which are accesses of two threads to the
/// same byte that nothing orders, at least one of which writes and not both of which are atomic;
/// reads of what nobody has written, or a copy has not written yet; and accesses outside of
/// allocations and of __shared__ variables.
///
/// Blocks run one after another, and threads of a block in turns, but for a few blocks in which locks may
/// be: see let_others_compete(). So each race is seen when the later of its two accesses comes, provided that the
/// earlier one is still remembered. Of reads that nothing orders, at most two are, those farthest from each other in
/// the grid.
///
/// Atomic functions order what a __threadfence() has come before; volatile accesses are taken for
/// atomic ones, but for those of a warp to its shared memory, unless loops wait for such a word. What their reader
/// finds is ordered after all that any thread of the writer's block had done up to its fence.
///
/// Pieces of work in streams, and the host, have vector clocks: see stream_clock.hpp. Work whose order
/// the host knows is over for all that comes later.
///
/// Words that synchronize threads without a fence are declared (declare.h). They order what their
/// sender knows to be over, and nothing else. Each process remembers its own accesses; for memory
/// that several share, see peer_checks.hpp.
///
/// Not seen are:
///  - a memcpy() of a few bytes that g++ compiles into moves,
///  - what MPI and the like write into device memory: it counts as unwritten,
///  - accesses to memory that kernels allocate by malloc(),
///  - a __syncwarp() that is missing between volatile accesses, if a loop of the kernel waits for a volatile variable,
///  - races in which both write the same value.
#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/findings.hpp"
#include "cuda_on_cpu/memory_shadow.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/peer_checks.hpp"
#include "cuda_on_cpu/shadow.hpp"
#include "cuda_on_cpu/stream.hpp"

namespace cuda_on_cpu {
namespace {

/// See the top of the file.
class CheckingObserver final : public Observer {
 public:
  CheckingObserver() { watches_variables = lets_threads_compete = true; }

  void start_launch(const RunningLaunch& launch) override {
    launch_ = &launch;
    unwritten_read_ = {};
    suspicion_ = {};
    has_looked = false;
    if (now_ > max_time / 2) begin_anew();
    over_ = began_ = before_all_ = advance();  // launches are ordered, but for those in parallel streams
    kept_ = began_;
    if (pieces_.is_empty()) return;
    over_ = pieces_.first_in_parallel(began_);
    if (several_streams_) kept_ = pieces_.first(began_);
    std::string& what = pieces_.last().what;
    what = what.empty() ? "kernel '" + std::string(launch.kernel) + "' (launched in " + to_string(launch.place) + ")"
                        : "a graph";
  }
  void end_launch(RunningLaunch& /*launch*/) override {
    forget_running();
    absorb_all();
    last_block_ = nullptr;
  }

  void piece_begins(const PieceNumber& number, const StreamClock& clock, bool several_streams) override {
    several_streams_ = several_streams;
    pieces_.begin(number, clock, host_clock, advance());
    watches_host = true;
  }
  void host_waited(const StreamClock& clock) override {
    host_clock.learn(clock);
    pieces_.forget_those_over(host_clock);
    watches_host = !pieces_.is_empty();
  }
  void host_function_begins() override { host_waited(pieces_.known()); }  // whose effects may tell the host
  void host_access(const Access& access) override {
    const std::unique_lock lock(engine(), std::try_to_lock);  // a kernel may wait for the host
    if (!lock.owns_lock()) return;
    const GlobalShadow* const memory = global_.at_host_call(access.address);
    if (memory == nullptr || !memory->of_host || !memory->contains(access.address, access.bytes)) return;
    if (access.is_atomic || access.is_volatile) {  // perhaps a flag that tells the host
      note_wait_for_all();
      return;
    }
    Record other;
    memory->words.look(access.address, access.bytes, [&](const Record& record) {
      if (!record.exists() || !(access.writes || record.has(Record::writes))) return;
      const Pieces::Piece* const piece = pieces_.at(record.time);
      if (piece != nullptr && !host_clock.covers(piece->number)) other = record;
    });
    if (!other.exists()) return;
    const std::string place = place_of_instruction(access.instruction);
    report((place.empty() ? "" : place + ": ") + "host code " + (access.writes ? "writes" : "reads") + " what " +
           earlier_piece(other) + " " + (other.has(Record::writes) ? "writes" : "reads") +
           ", and has not waited for that: cudaDeviceSynchronize() in between is missing.");
    note_wait_for_all();  // it is told once
  }

  void start_block(const Block& block) override {
    std::unique_ptr<BlockShadow>& shadow = blocks_[block.arena];
    if (shadow == nullptr) shadow = std::make_unique<BlockShadow>(*block.arena);
    last_block_ = &block;
    last_shadow_ = shadow.get();
    const Time now = advance();
    absorb(*shadow);
    shadow->start(static_cast<std::uint32_t>(number_of(block)) & (max_blocks - 1), now);
    const std::size_t dynamic = launch_->configuration.shared;
    if (dynamic > 0) {
      shadow->place(nullptr, reinterpret_cast<std::uintptr_t>(block.arena->table.dynamic), dynamic);
    }
  }
  void placed(const Block& block, const char* name, const char* begin, std::size_t bytes) override {
    shadow_of(block).place(name, reinterpret_cast<std::uintptr_t>(begin), bytes);
  }

  void arrived(const Block& block, const void* begin, std::size_t bytes) override {
    BlockShadow& shadow = shadow_of(block);
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(begin) - shadow.begin;
    if (offset < shadow.bytes) std::memset(&shadow.state[offset], BlockShadow::written, bytes);
  }

  void passed_barrier(const Block& block) override {
    report_late();
    shadow_of(block).clock.pass_barrier(advance());
  }
  void synchronized(const Block& block, unsigned warp, unsigned lanes) override {
    suspicion_.settle();
    shadow_of(block).clock.meet(warp, lanes, block.lanes_of(warp), advance());
  }
  void ordered_otherwise() override {
    report_late();
    absorb_all();
    over_ = before_all_ = advance();
  }
  void fenced(const Fiber& fiber) override {
    BlockClock& clock = shadow_of(*fiber.block).clock;
    peers_.fenced({&clock, fiber.thread, now_, before_all_});
    clock.fence = advance();
  }
  void sent(const Fiber& fiber, std::uintptr_t word, std::uint64_t number, std::uintptr_t instruction) override {
    suspicion_.settle();
    const Time now = advance();
    BlockShadow& block = shadow_of(*fiber.block);
    BlockClock& clock = block.clock;
    GlobalShadow* const memory = memory_of(block, word);
    const Culprit sender{number_of(*fiber.block), fiber.thread, instruction, true, true};
    const PeerAccessor self{&clock, fiber.thread, now - 1, before_all_};
    Sent& last = (memory == nullptr ? block.sent : memory->sent)[word];
    const Accessor own = accessor_of(fiber, clock, false, 0);
    for (const Record& receipt : last.receipts) {
      if (!own.is_after(receipt)) end_by_replacing(sender, receipt.what);
    }
    last = {number, instruction, clock.known_to(fiber.thread), {}};
    if (memory != nullptr && memory->peers != nullptr) {
      const PeerRecord receipt = peers_.sent(*memory->peers, word - memory->begin, last, self);
      if (receipt.exists()) end_by_replacing(sender, receipt.what);
    }
    last.known.learn(Whose::process(0), own.over);
    last.known.learn(Whose::block(0, self.number()), clock.barrier);
    last.known.learn(Whose::thread(0, self.number()), now);
  }
  void received(const Fiber& fiber, std::uintptr_t word, std::uint64_t number, std::uintptr_t instruction) override {
    suspicion_.settle();
    forget_running();
    BlockShadow& block = shadow_of(*fiber.block);
    BlockClock& clock = block.clock;
    const PeerAccessor self{&clock, fiber.thread, now_, before_all_};
    GlobalShadow* const memory = memory_of(block, word);
    auto& all = memory == nullptr ? block.sent : memory->sent;
    SentNumber last;
    if (const auto found = all.find(word); found != all.end()) {
      Sent& sent = found->second;
      last = {true, sent.number, sent.instruction};
      if (sent.number == number) {
        clock.learn(fiber.thread, sent.known);
        sent.receipts.push_back({now_, self.number(), what_of(instruction)});
      }
    }
    if (memory != nullptr && memory->peers != nullptr) {
      last = peers_.received(*memory->peers, word - memory->begin, number, what_of(instruction), self);
    }
    if (last.exists && last.number == number) return;
    end_by_number({number_of(*fiber.block), fiber.thread, instruction, false, false}, number, last);
  }
  void thread_exited(const Block& block, unsigned /*thread*/) override {
    suspicion_.settle();
    forget_running();
    if (block.exited == block.threads) report_unwritten();
  }

  void allocated(std::uintptr_t begin, std::size_t bytes) override { global_.allocated(begin, bytes); }
  void shared(std::uintptr_t begin, std::size_t bytes, int file, std::size_t offset) override {
    global_.shared(begin, bytes, file, offset);
  }
  void freed(std::uintptr_t begin) override { global_.freed(begin); }
  void copied(std::uintptr_t begin, std::size_t bytes) override {
    check_piece(begin, bytes, false);
    check_copy(begin, bytes, false);
  }
  void filled(std::uintptr_t begin, std::size_t bytes) override {
    global_.filled(begin, bytes);
    check_piece(begin, bytes, true);
    check_copy(begin, bytes, true);
  }

  void resume(const Fiber& fiber) override {
    BlockShadow& block = shadow_of(*fiber.block);
    running.shared = block.words.window(block.begin, block.bytes);
    running.quiet.fill(no_mark);
    if (suspicion_.exists() || block.clock.has_acquired || over_ < before_all_) return;
    running.quiet = {mark_of(now_, fiber.thread / 32), mark_of(now_, of_block), mark_of(before_all_, of_all)};
  }
  Window window(const MemoryRange& range) override {
    const GlobalShadow* const memory = global_.of(range, frees);
    // Other processes change what is known about its words.
    return memory == nullptr || memory->peers != nullptr ? Window{}
                                                         : memory->words.window(memory->begin, memory->bytes);
  }

  void access(const Fiber& fiber, const Access& access) override {
    if (suspicion_.exists()) [[unlikely]] {
      suspicion_.settle(fiber.thread, access);
      forget_running();
    }
    BlockShadow& block = shadow_of(*fiber.block);
    if (access.is_shared()) {
      check_shared(fiber, block, access);
    } else if (GlobalShadow* const memory = global_.of(*access.range, frees); memory != nullptr) {
      check_global(fiber, block, *memory, access);
    }
    if (access.releases) [[unlikely]]
      advance();
  }

 private:
  /// A read of what nobody has written until then. It waits until the block's next barrier: a write
  /// that comes late makes a race of it, which tells more.
  struct UnwrittenRead {
    Culprit culprit;
    std::uintptr_t address = 0;  ///< 0 if there is none
    bool is_shared;
  };

  /// Something orders accesses. Since time may begin anew, no time is kept across this, and nothing
  /// that refers to what was sent.
  Time advance() {
    forget_running();
    if (now_ == max_time) begin_anew();
    return ++now_;
  }
  /// Time does, and all accesses are forgotten.
  void begin_anew() {
    absorb_all();
    peers_.begin_anew(now_);
    pieces_.forget_all();
    now_ = before_all_ = over_ = began_ = kept_ = 1;  // a word without accesses has 0
    global_.clear();
    for (const auto& [arena, shadow] : blocks_) {
      shadow->words.clear();
      shadow->sent.clear();
      shadow->clock.forget();
      shadow->started = 0;
    }
  }

  /// What a block has learnt of other processes is known to everything that comes after it.
  void absorb(const BlockShadow& block) {
    if (block.clock.has_acquired) peers_.absorb(block.clock);
  }
  void absorb_all() {
    for (const auto& [arena, shadow] : blocks_) absorb(*shadow);
  }

  /// The memory that a word is in; null for shared memory, and for what nobody watches.
  GlobalShadow* memory_of(const BlockShadow& block, std::uintptr_t word) {
    if (word - block.begin < block.bytes) return nullptr;
    const MemoryRange* const range = range_of(word);
    return range == nullptr ? nullptr : global_.of(*range, frees);
  }

  BlockShadow& shadow_of(const Block& block) {
    if (&block != last_block_) {
      last_block_ = &block;
      last_shadow_ = blocks_.find(block.arena)->second.get();
    }
    return *last_shadow_;
  }
  void check_shared(const Fiber& fiber, BlockShadow& block, const Access& access) {
    const std::uint8_t* const state = &block.state[access.address - block.begin];
    bool is_inside = true;
    bool is_written = false;
    bool is_on_its_way = false;
    for (unsigned i = 0; i < access.bytes; ++i) {
      is_inside = is_inside && state[i] != BlockShadow::outside;
      is_written = is_written || state[i] == BlockShadow::written;
      is_on_its_way = is_on_its_way || state[i] == BlockShadow::on_its_way;
    }
    if (!is_inside) [[unlikely]]
      end_outside(fiber, block, access);
    if (access.writes) {
      std::memset(&block.state[access.address - block.begin],
                  access.begins_copy ? BlockShadow::on_its_way : BlockShadow::written, access.bytes);
    }
    check_races(fiber, block, block.words, access, before_all_);
    if (access.reads && is_on_its_way) [[unlikely]]
      end_by_copy(culprit_of(fiber, access));
    if (access.reads && !is_written) [[unlikely]]
      note_unwritten(fiber, access);
  }

  void check_global(const Fiber& fiber, BlockShadow& block, GlobalShadow& memory, const Access& access) {
    if (!memory.contains(access.address, access.bytes)) [[unlikely]] {
      const std::uintptr_t end = memory.begin + memory.bytes;
      const bool runs_over = access.address >= memory.begin && access.address < end;
      end_beyond_allocation(culprit_of(fiber, access), runs_over ? end : access.address);
    }
    const std::size_t offset = access.address - memory.begin;
    const bool is_written = !access.reads || memory.written.any(offset, access.bytes);
    if (access.writes) memory.written.set(offset, access.bytes);
    check_races(fiber, block, memory.words, access, memory.of_host ? pieces_.first(began_) : kept_);
    if (memory.peers != nullptr) check_peers(memory, offset, fiber, access, block.clock);
    if (!is_written) [[unlikely]]
      note_unwritten(fiber, access);
  }

  Accessor accessor_of(const Fiber& fiber, const BlockClock& clock, bool is_shared, std::uint32_t what) const {
    Accessor self{};
    self.clock = &clock;
    self.pieces = &pieces_;
    self.began = began_;
    self.over = std::max({over_, clock.acquired_by_all, clock.acquired[fiber.thread]});
    self.over_in_block = std::max(self.over, clock.barrier);
    if (is_shared) self.over = self.over_in_block;
    self.needs_lockstep = is_shared && !has_looked;
    self.record = {now_, clock.number << thread_bits | fiber.thread, what};
    return self;
  }

  void check_races(const Fiber& fiber, BlockShadow& block, Words& words, const Access& access, Time kept) {
    BlockClock& clock = block.clock;
    Accessor self = accessor_of(fiber, clock, access.is_shared(), to_what(access));
    const bool orders = access.is_atomic || access.is_volatile;
    if (orders && access.address == unwritten_read_.address && fiber.thread == unwritten_read_.culprit.thread) {
      report_unwritten();  // it may go on asking for ever
    }
    Time seen = 0;
    Record earlier;
    bool is_certain = false;
    const Time over = self.over;
    const Moment moment{now_,
                        access.is_shared() ? self.over_in_block : kept,
                        access.is_shared() ? std::max(before_all_, block.started) : kept,
                        !orders,
                        !clock.has_acquired && over_ == before_all_,
                        launch_->configuration.cooperative || blocks_.size() > 1};
    words.visit(access.address, access.bytes, self, moment, [&](Cell& cell) {
      if (orders) self.over = std::max(over, cell.released);
      if (const Record* const race = find_race(cell, self); race != nullptr) [[unlikely]] {
        if (!earlier.exists()) earlier = *race;
        is_certain = is_certain || !Suspicion::may_be_right(cell, race, self.record) ||
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
      const Culprit later = culprit_of(fiber, access);
      if (earlier.time < began_) end_by_piece(later, earlier_piece(earlier), earlier.what);
      const Culprit other = to_culprit(earlier, clock, fiber);
      if (is_certain) end_by_race(later, other);
      suspicion_.raise(later, other, access);
      forget_running();
    }
    if (orders) [[unlikely]] {
      forget_running();
      if (access.reads || access.is_atomic) clock.acquire(fiber.thread, seen);
    }
  }

  void check_peers(GlobalShadow& memory, std::size_t offset, const Fiber& fiber, const Access& access,
                   BlockClock& clock) {
    const PeerAccessor self{&clock, fiber.thread, now_, before_all_};
    const PeerRecord race = peers_.check(*memory.peers, offset, access, self);
    forget_running();  // a flag may have been read
    if (race.exists()) end_by_peer(culprit_of(fiber, access), race.what);
  }

  /// What has made an access before the piece that runs, or host code, began.
  std::string earlier_piece(const Record& record) const {
    const Pieces::Piece* const piece = pieces_.at(record.time);
    return piece == nullptr || piece->what.empty() ? "a copy" : piece->what;
  }

  /// The piece that runs, which is no kernel, reads or writes memory.
  void check_piece(std::uintptr_t begin, std::size_t bytes, bool writes) {
    if (pieces_.is_empty() || called.call == nullptr) return;
    const Time first = pieces_.first_in_parallel(now_);
    if (first == now_ && called.is_waited_for) return;  // all before is over for it, and it for all that comes
    GlobalShadow* const memory = global_.at_host_call(begin);
    if (memory == nullptr || begin - memory->begin + bytes > memory->bytes) return;
    if (pieces_.last().what.empty()) pieces_.last().what = std::string(called.call) + " in " + to_string(called.place);
    static BlockClock none;
    constexpr ThreadNumber of_no_thread = ~ThreadNumber{0};
    const Time began = pieces_.last().begin;
    const Accessor self{
        &none, &pieces_, began, std::min(first, began), began, {now_, of_no_thread, writes ? Record::writes : 0}};
    const Time kept = pieces_.first(began);
    const Moment moment{now_, kept, kept, true, false, false};
    Record earlier;
    for (std::size_t i = 0; i < bytes && !earlier.exists(); i += 64) {
      const auto size = static_cast<unsigned>(std::min<std::size_t>(64, bytes - i));
      memory->words.visit(begin + i, size, self, moment, [&](Cell& cell) {
        if (const Record* const race = find_race(cell, self); race != nullptr) earlier = *race;
        add(cell, self);
        return !earlier.exists();
      });
    }
    if (!earlier.exists()) return;
    const bool is_freed = std::strncmp(called.call, "cudaFree", 8) == 0;
    const char* const verb = is_freed ? " frees" : (writes ? " writes" : " reads");
    report_at(called.place, describe_piece(std::string(called.call) + verb, earlier_piece(earlier), earlier.what));
    note_wait_for_all();  // it is told once
  }

  void check_copy(std::uintptr_t begin, std::size_t bytes, bool writes) {
    GlobalShadow* const memory = global_.of_peers(begin);
    if (memory == nullptr) return;
    const PeerRecord race = peers_.copied(*memory->peers, begin - memory->begin, bytes, writes, now_);
    if (race.exists()) report_copy(writes, race.what);
  }

  void note_unwritten(const Fiber& fiber, const Access& access) {
    if (unwritten_read_.address == 0) {
      unwritten_read_ = {culprit_of(fiber, access), access.address, access.is_shared()};
    }
  }
  void report_late() {
    suspicion_.settle();
    report_unwritten();
  }
  void report_unwritten() {
    if (unwritten_read_.address == 0) return;
    const UnwrittenRead read = std::exchange(unwritten_read_, {});
    end_by_unwritten(read.culprit, read.address, read.is_shared);
  }

  [[noreturn]] static void end_outside(const Fiber& fiber, const BlockShadow& block, const Access& access) {
    std::uintptr_t address = access.address;
    while (block.state[address - block.begin] != BlockShadow::outside) ++address;
    const SharedVariable* nearest = nullptr;
    std::uintptr_t least = ~std::uintptr_t{0};
    for (const SharedVariable& variable : block.variables) {
      const std::uintptr_t distance =
          address < variable.begin ? variable.begin - address : address - variable.begin - variable.bytes;
      if (distance >= least) continue;
      least = distance;
      nearest = &variable;
    }
    end_beyond_variable(culprit_of(fiber, access), address, nearest);
  }

  const RunningLaunch* launch_ = nullptr;
  Time now_ = 0;
  Time before_all_ = 0;  ///< all accesses before that time are over
  Time began_ = 0;       ///< the launch
  Time over_ = 0;        ///< as before_all_, but earlier if there is work in parallel streams
  Time kept_ = 0;        ///< accesses before that time need not be remembered
  Pieces pieces_;
  bool several_streams_ = false;
  UnwrittenRead unwritten_read_;
  Suspicion suspicion_;

  std::unordered_map<const Arena*, std::unique_ptr<BlockShadow>> blocks_;
  const Block* last_block_ = nullptr;
  BlockShadow* last_shadow_ = nullptr;

  GlobalShadows global_;
  PeerChecks peers_;
};

}  // namespace

Observer* make_checking_observer() {
  return new CheckingObserver;  // kernels may run until the end
}

}  // namespace cuda_on_cpu

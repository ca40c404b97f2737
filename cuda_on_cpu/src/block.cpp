#include "cuda_on_cpu/block.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <utility>

#include <device_functions.h>
#include <sched.h>
#include <sys/mman.h>
#include <unwind.h>

#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/declare.h"
#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/progress.hpp"

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace cuda_on_cpu {

__thread SharedMemory* shared_memory = nullptr;
__thread Worker* this_worker = nullptr;
Observer* observer = nullptr;
bool kernels_report_accesses = false;

namespace {

/// Each guard page splits a mapping in two, and a process may have some 65,000.
constexpr int max_guarded_stacks = 12000;
std::atomic<int> guarded_stacks = 0;

/// Of the blocks that let_others_compete() runs at the same time.
constexpr std::size_t max_competing_threads = 2048;

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

std::string mask_in_digits(unsigned mask) {
  char text[11];
  std::snprintf(text, sizeof text, "%#010x", mask);
  return text;
}

/// Says what is wrong and ends the program: there is nothing to go on with.
[[noreturn, gnu::cold]] void end_program(Place place, const std::string& sentence) {
  report_at(place, sentence);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): see above
}

/// Spreads the numbers 0..n-1 in an order that depends on the seed: a multiplication by a number
/// without a divisor in common with n.
std::uint64_t permuted(std::uint64_t i, std::uint64_t n, std::uint64_t seed) {
  std::uint64_t factor = (seed * 0x9e3779b97f4a7c15U >> 33) % n;
  while (std::gcd(factor, n) != 1) ++factor;
  return static_cast<std::uint64_t>((static_cast<__uint128_t>(i) * factor + seed) % n);
}

/// The number of the block that is the i-th to start.
std::uint64_t number_in_order(const RunningLaunch& launch, std::uint64_t i) {
  if (launch.order == ThreadOrder::reverse) return launch.blocks - 1 - i;
  return launch.order == ThreadOrder::random ? permuted(i, launch.blocks, launch.seed) : i;
}

}  // namespace

// ------------------------------------------------------------------------------------------------
// Shared memory

namespace {

/// So much lies between variables, if something watches that is to notice an index too large.
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
constexpr std::size_t least_gap = 64;
#else
constexpr std::size_t least_gap = 0;
#endif

[[noreturn, gnu::cold]] void end_by_shared_variable(const char* name) {
  end_program({}, std::string("host code uses the __shared__ variable '") + name + "'.");
}

}  // namespace

Arena::Arena()
    : gap_(observer == nullptr ? least_gap : std::max(least_gap, std::size_t{64})),
      bytes_(rounded_up(max_shared_bytes + SharedMemory::entries * gap_, guard_bytes) + 2 * guard_bytes) {
  void* const pages = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  pages_ = static_cast<char*>(pages);
  begin_ = pages_ + guard_bytes;
  end_ = pages_ + bytes_ - guard_bytes;
  mprotect(begin_, static_cast<std::size_t>(end_ - begin_), PROT_READ | PROT_WRITE);
  table.block = 0;
  for (SharedMemory::Entry& entry : table.entry) entry.block = ~std::uint64_t{0};
}

Arena::~Arena() {
  unpoison(begin_, static_cast<std::size_t>(end_ - begin_));
  munmap(pages_, bytes_);
}

void Arena::start_block(std::size_t dynamic_bytes) {
  ++table.block;
  next_ = begin_;
  static_bytes_ = 0;
  table.dynamic = end_ - rounded_up(dynamic_bytes, 16);
  poison(begin_, static_cast<std::size_t>(end_ - begin_));
  unpoison(table.dynamic, dynamic_bytes);
  fill_with_nan(table.dynamic, dynamic_bytes);
}

char* Arena::place(std::size_t bytes, std::size_t alignment) {
  const std::size_t offset =
      rounded_up(static_cast<std::size_t>(next_ - begin_) + gap_, std::max<std::size_t>(alignment, 16));
  char* const place = begin_ + offset;
  static_bytes_ += bytes;
  next_ = place + bytes;
  unpoison(place, bytes);
  fill_with_nan(place, bytes);
  return place;
}

char* place_shared(const char* name, std::size_t bytes, std::size_t alignment, unsigned& id) {
  static std::atomic<unsigned> ids = 0;
  Worker* const worker = this_worker;
  if (!runs_in_kernel()) end_by_shared_variable(name);
  unsigned number = __atomic_load_n(&id, __ATOMIC_RELAXED);
  if (number == 0) {
    const unsigned fresh = ++ids;
    if (fresh >= SharedMemory::entries) {
      report("the program has more than 1023 __shared__ variables.");
      std::abort();
    }
    number =
        __atomic_compare_exchange_n(&id, &number, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? fresh : number;
  }
  Arena& arena = *worker->block().arena;
  SharedMemory::Entry& entry = arena.table.entry[number];
  if (entry.block != arena.table.block) {
    const std::size_t dynamic = worker->launch().configuration.shared;
    const std::size_t bytes_of_all = arena.static_bytes() + bytes;
    const bool fits = bytes_of_all <= default_shared_bytes;
    const bool is_allowed = dynamic <= worker->launch().allowed_shared;
    if (!fits || bytes_of_all + dynamic > (is_allowed ? max_shared_bytes : default_shared_bytes)) {
      worker->fail(cudaErrorInvalidValue, worker->launch().place, [&] {
        return "with '" + std::string(name) + "' its __shared__ variables have " + std::to_string(bytes_of_all) +
               " bytes" + (dynamic > 0 ? ", beside " + std::to_string(dynamic) + " dynamic ones" : "") +
               ", but a block has " + std::to_string(default_shared_bytes) +
               (fits && !is_allowed ? " for both; cudaFuncSetAttribute() allows more dynamic ones."
                                    : " for such variables; more must be dynamic.");
      });
    }
    entry = {arena.table.block, arena.place(bytes, alignment)};
    if (observer != nullptr) observer->placed(worker->block(), name, entry.address, bytes);
  }
  return entry.address;
}

char* dynamic_shared_memory(const char* name) {
  if (shared_memory == nullptr) end_by_shared_variable(name);
  return shared_memory->dynamic;
}

// ------------------------------------------------------------------------------------------------
// The start and the end of threads

void Block::start(const RunningLaunch& launch, std::uint64_t number, Arena& with_arena) {
  arena = &with_arena;
  arena->start_block(launch.configuration.shared);
  index = index_of(number, launch.configuration.grid);
  threads = launch.threads;
  started = 0;
  exited = 0;
  arrived = 0;
  mixed = false;
  has_tiles = false;
  next_index = {0, 0, 0};
  const unsigned warps = (threads + 31) / 32;
  std::fill_n(lanes_waiting, warps, 0U);
  std::fill_n(lanes_exited, warps, 0U);
  if (launch.order == ThreadOrder::random) {
    order.resize(threads);
    std::uint64_t state = (launch.seed + number) * 0x9e3779b97f4a7c15U | 1U;
    for (unsigned i = 0; i < threads; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const auto j = static_cast<unsigned>((state >> 33) % (i + 1));
      order[i] = order[j];
      order[j] = static_cast<std::uint16_t>(i);
    }
  }
  if (observer != nullptr) observer->start_block(*this);
}

struct FiberEntry {
  static void run(boost::context::detail::transfer_t from) {
    Worker& worker = *this_worker;
    arrived(from, *worker.running_);
    worker.serve();
  }
};

Worker::Worker(unsigned number) : number_(number) { arenas_.push_back(new Arena); }

Fiber& Worker::new_fiber() {
  fibers_.reserve(fibers_.size() + 1);
  auto owner = std::make_unique<Fiber>();
  Fiber* const fiber = owner.get();
  void* const stack = mmap(nullptr, fiber_stack_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) throw std::bad_alloc();
  fiber->stack = static_cast<char*>(stack);
  fiber->stack_bytes = fiber_stack_bytes;
  // Stacks a power of two apart would fight for the same places in the caches.
  fiber->stack_top = fiber->stack + fiber_stack_bytes - 64 * (fibers_.size() & 63U);
  if (++guarded_stacks < max_guarded_stacks) mprotect(stack, guard_bytes, PROT_NONE);
  fiber->context = boost::context::detail::make_fcontext(fiber->stack_top, fiber_stack_bytes / 2, FiberEntry::run);
  fibers_.push_back(owner.release());
  return *fiber;
}

/// @return null where the host has no memory for another: an exception must not leave a fiber.
Fiber* Worker::idle_fiber() {
  if (idle_ != nullptr) {
    Fiber* const fiber = idle_;
    idle_ = fiber->next_idle;
    return fiber;
  }
  try {
    return &new_fiber();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// After an abandoned block: whatever is on the stacks is given up.
inline void forget_copies(Fiber& fiber) {
  fiber.copies.clear();
  fiber.copy_groups.clear();
  fiber.copies_done = 0;
}

void Worker::reset_fibers() {
  idle_ = nullptr;
  for (Fiber* const fiber : fibers_) {
    fiber->context = boost::context::detail::make_fcontext(fiber->stack_top, fiber_stack_bytes / 2, FiberEntry::run);
    fiber->next_idle = std::exchange(idle_, fiber);
    forget_copies(*fiber);
    unpoison(fiber->stack, fiber->stack_bytes);
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
    fiber->fake_stack = nullptr;
#endif
  }
}

void Worker::enter(Block& block) {
  block_ = &block;
  blockIdx = block.index;
  shared_memory = &block.arena->table;
}

/// Whether there is a thread that has not been started; `starting_` is its block then.
inline bool Worker::find_unstarted() {
  while (blocks_[starting_]->started == launch_->threads) {
    if (starting_ + 1 == blocks_.size()) return false;
    ++starting_;
  }
  return true;
}

inline bool Worker::start_next_thread(Fiber& fiber) {
  if (!find_unstarted()) return false;
  Block& block = *blocks_[starting_];
  if (&block != block_) [[unlikely]]
    enter(block);
  const unsigned ordinal = block.started++;
  unsigned thread = ordinal;
  if (launch_->order == ThreadOrder::forward) [[likely]] {
    threadIdx = block.next_index;
    if (++block.next_index.x == blockDim.x) {
      block.next_index.x = 0;
      if (++block.next_index.y == blockDim.y) {
        block.next_index.y = 0;
        ++block.next_index.z;
      }
    }
  } else {
    thread = launch_->order == ThreadOrder::reverse ? block.threads - 1 - ordinal : block.order[ordinal];
    threadIdx = index_of(thread, blockDim);
  }
  fiber.block = &block;
  fiber.thread = thread;
  prefer_start_ = false;
  return true;
}

inline void Worker::thread_exited(Fiber& fiber) {
  Block& block = *fiber.block;
  const unsigned warp = fiber.thread >> 5U;
  block.lanes_exited[warp] |= 1U << (fiber.thread & 31U);
  ++block.exited;
  --alive_;
  if (observer != nullptr) [[unlikely]]
    observer->thread_exited(block, fiber.thread);
  if (!fiber.copies.empty()) [[unlikely]]
    forget_copies(fiber);
  if (!launch_->strict) [[unlikely]] {
    complete_exchanges(block, warp);
    if (block.arrived > 0 && block.arrived == block.threads - block.exited) release_barrier(block);
    if (alive_ > 0 && at_grid_barrier_ == alive_) release_grid_barrier();
  }
}

/// The life of a fiber: runs threads from their start, as long as no suspended one can go on.
void Worker::serve() {
  Fiber& self = *running_;
  self.frame = static_cast<const char*>(__builtin_frame_address(0));
  for (;;) {
    while ((head_ == tail_ || prefer_start_) && start_next_thread(self)) {
      bool has_memory = true;
      try {
        launch_->call->run_thread();
      } catch (const std::bad_alloc&) {  // for what the runtime notes of a thread
        has_memory = false;
      }
      if (!has_memory) abandon(cudaErrorMemoryAllocation);
      thread_exited(self);
    }
    Fiber* next = next_fiber();
    if (next == nullptr) {
      if (alive_ > 0) deadlock();
      next = &main_;
    }
    if (next == &self) continue;
    self.next_idle = std::exchange(idle_, &self);
    running_ = next;
    jump(self, *next);
  }
}

inline Fiber* Worker::next_ready() {
  Fiber* const fiber = ready_[head_++ & ring_mask_];
  if (fiber->block != block_) [[unlikely]]
    enter(*fiber->block);
  return fiber;
}

/// The fiber to go on with: one that is ready, else one for a thread that has not started.
inline Fiber* Worker::next_fiber() {
  if (head_ != tail_ && !prefer_start_) [[likely]]
    return next_ready();
  if (find_unstarted()) {
    Fiber* const fiber = idle_fiber();
    if (fiber == nullptr) abandon(cudaErrorMemoryAllocation);
    return fiber;
  }
  prefer_start_ = false;
  if (head_ == tail_ && !converging_.empty()) [[unlikely]]
    release_converging();
  return head_ != tail_ ? next_ready() : nullptr;
}

inline void Worker::wake(Fiber& fiber) {
  ready_[tail_ & ring_mask_] = &fiber;
  if (launch_->order == ThreadOrder::random) [[unlikely]] {
    const auto other = head_ + static_cast<unsigned>(random() % (tail_ - head_ + 1));
    std::swap(ready_[tail_ & ring_mask_], ready_[other & ring_mask_]);
  }
  ++tail_;
}

/// Finds out who goes on instead of this fiber. The switch is left to the caller; not so where a
/// sanitizer must be told of it.
inline Switch Worker::suspend(Fiber& fiber) {
  fiber.index = threadIdx;
  Fiber* const next = next_fiber();
  if (next == nullptr) deadlock();
  if (next == &fiber) return {&fiber, nullptr};
  running_ = next;
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  jump(fiber, *next);
  threadIdx = fiber.index;
  return {&fiber, nullptr};
#else
  return {&fiber, next->context};
#endif
}

void Worker::yield() {
  Fiber& fiber = *running_;
  wake(fiber);
  prefer_start_ = true;
  switch_threads(suspend(fiber));
}

void Worker::compete() {
  run_more_blocks();
  do {  // the next to compete may be the first thread of another block
    yield();
  } while (find_unstarted());
}

std::uint64_t Worker::random() {
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;
  return random_ >> 33U;
}

// ------------------------------------------------------------------------------------------------
// Waiting for other threads

/// The running thread is about to wait.
inline Fiber& Worker::note_wait(const char* what, Place place, unsigned mask) {
  Fiber& fiber = *running_;
  fiber.place = place;
  fiber.what = what;
  fiber.mask = mask;
  return fiber;
}

inline Switch Worker::barrier(Vote vote, bool predicate, const char* what, Place place) {
  Fiber& fiber = note_wait(what, place);
  Block& block = *block_;
  if (block.arrived == 0) {
    block.vote = vote;
    block.votes = 0;
  } else if (const Fiber& first = *block.at_barrier[0]; first.place.line != place.line || block.vote != vote) {
    block.mixed = true;
  }
  block.votes += predicate ? 1 : 0;
  block.at_barrier[block.arrived++] = &fiber;
  if (block.arrived == block.threads - (launch_->strict ? 0 : block.exited)) {
    release_barrier(block);
  }
  return suspend(fiber);
}

void Worker::release_barrier(Block& block) {
  if (block.mixed) return;  // they wait for ever, which is reported
  if (observer != nullptr) [[unlikely]]
    observer->passed_barrier(block);
  const unsigned count = block.arrived;
  if (block.vote != Vote::none) count_votes(block);
  block.arrived = 0;
  block.mixed = false;
  for (unsigned i = 0; i < count; ++i) wake(*block.at_barrier[i]);
}

void Worker::count_votes(Block& block) {
  unsigned result = block.votes;
  if (block.vote == Vote::all) result = block.votes == block.arrived ? 1 : 0;
  if (block.vote == Vote::any) result = block.votes > 0 ? 1 : 0;
  for (unsigned i = 0; i < block.arrived; ++i) block.at_barrier[i]->votes = result;
}

void Worker::wait_for_grid(Place place) {
  if (!launch_->configuration.cooperative) {
    fail(cudaErrorLaunchFailure, place,
         [] { return "this_grid().sync() needs a launch by cudaLaunchCooperativeKernel()."; });
  }
  const std::size_t all = launch_->blocks * launch_->threads;
  if (++at_grid_barrier_ == (launch_->strict ? all : alive_)) {
    release_grid_barrier();
    wake(*running_);
    switch_threads(suspend(*running_));
  } else {
    wait_for(launch_, "this_grid().sync()", place);
  }
}

void Worker::release_grid_barrier() {
  at_grid_barrier_ = 0;
  wake_all(launch_);
}

inline Switch Worker::exchange(const Exchange& exchange) {
  const unsigned mask = exchange.mask;
  Fiber& fiber = note_wait(exchange.what, exchange.place, mask);
  Block& block = *block_;
  const unsigned warp = fiber.thread >> 5U;
  const unsigned own = 1U << (fiber.thread & 31U);
  fiber.combine = exchange.combine;
  fiber.value = exchange.value;
  fiber.argument = exchange.argument;
  if ((mask & own) == 0) [[unlikely]] {
    fail(cudaErrorLaunchFailure, exchange.place, [&] {
      return std::string(exchange.what) + " was called with mask " + mask_in_digits(mask) +
             ", which lacks the caller's own lane " + std::to_string(fiber.thread & 31U) + ".";
    });
  }
  block.at_exchange[fiber.thread] = &fiber;
  block.lanes_waiting[warp] |= own;
  unsigned needed = mask & block.lanes_of(warp);
  if (!launch_->strict) needed &= ~block.lanes_exited[warp];
  if ((block.lanes_waiting[warp] & needed) == needed) complete_exchange(block, warp, needed);
  return suspend(fiber);
}

/// Ends the wait of these lanes if they have all come to the same exchange.
void Worker::complete_exchange(Block& block, unsigned warp, unsigned lanes) {
  Fiber** const fibers = block.at_exchange + std::size_t{warp} * 32;
  const Fiber& first = *fibers[std::countr_zero(lanes)];
  // The lanes' values are copied, so that what the kernel's code combines is in one place.
  Lane values[32];
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (fibers[lane]->mask != first.mask || fibers[lane]->combine != first.combine) return;
    values[lane] = {fibers[lane]->value, 0, fibers[lane]->argument, false};
  }
  first.combine(values, lanes);
  for_lanes(lanes, [&](unsigned lane) {
    fibers[lane]->result = values[lane].result;
    if (values[lane].missing) [[unlikely]]
      fail_missing_lane(*fibers[lane], values[lane].argument);
  });
  block.lanes_waiting[warp] &= ~lanes;
  if (observer != nullptr) [[unlikely]]
    observer->synchronized(block, warp, lanes);
  if (launch_->order == ThreadOrder::reverse) {
    for (unsigned lane = 32; lane-- > 0;) {
      if ((lanes >> lane & 1U) != 0) wake(*fibers[lane]);
    }
  } else {
    for_lanes(lanes, [&](unsigned lane) { wake(*fibers[lane]); });
  }
}

/// A lane reads from one that has given nothing.
void Worker::fail_missing_lane(const Fiber& fiber, unsigned from) {
  const Block& block = *fiber.block;
  const unsigned warp = fiber.thread >> 5U;
  threadIdx = index_of(fiber.thread, blockDim);
  fail(cudaErrorLaunchFailure, fiber.place, [&] {
    std::string reason = "the mask " + mask_in_digits(fiber.mask) + " lacks it";
    if ((block.lanes_of(warp) >> from & 1U) == 0) {
      reason = "the block has " + counted(block.threads, "thread") + ", and so its last warp has " +
               counted(block.threads - warp * 32, "lane");
    } else if ((block.lanes_exited[warp] >> from & 1U) != 0) {
      reason = "it has exited";
    }
    return std::string(fiber.what) + " reads the value of lane " + std::to_string(from) +
           ", which does not take part: " + reason + ".";
  });
}

/// When a lane has ended and does not count any more, the others may be complete.
void Worker::complete_exchanges(Block& block, unsigned warp) {
  for (unsigned left = block.lanes_waiting[warp]; left != 0; left &= block.lanes_waiting[warp]) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    left &= left - 1;
    const unsigned needed =
        block.at_exchange[warp * 32 + lane]->mask & block.lanes_of(warp) & ~block.lanes_exited[warp];
    if ((block.lanes_waiting[warp] & needed) == needed) complete_exchange(block, warp, needed);
  }
}

void only_wait(Lane* /*lanes*/, unsigned /*mask*/) {}

// ------------------------------------------------------------------------------------------------
// Lanes that a branch has kept together, and threads that wait for a key

namespace {

/// What the unwinder is to find out: by which calls a thread has come to where it is.
struct Calls {
  std::uint64_t hash;
  const char* end;  ///< of the thread's own part of the stack
};

_Unwind_Reason_Code add_call(_Unwind_Context* context, void* data) {
  Calls& calls = *static_cast<Calls*>(data);
  if (reinterpret_cast<const char*>(_Unwind_GetCFA(context)) >= calls.end) return _URC_END_OF_STACK;
  calls.hash = (calls.hash ^ _Unwind_GetIP(context)) * 0x9e3779b97f4a7c15U;
  calls.hash ^= calls.hash >> 29U;
  return _URC_NO_REASON;
}

}  // namespace

unsigned Worker::converge(const char* what, Place place) {
  Calls calls{place.line, running_->frame};
  _Unwind_Backtrace(add_call, &calls);
  return converge(calls.hash, what, place);
}

unsigned Worker::converge(std::uint64_t calls, const char* what, Place place) {
  Fiber& fiber = note_wait(what, place);
  fiber.calls = calls;
  converging_.push_back(&fiber);
  const unsigned warp = fiber.thread >> 5U;
  unsigned lanes = 0;
  for (const Fiber* const other : converging_) {
    if (other->block == fiber.block && other->thread >> 5U == warp && other->calls == calls) {
      lanes |= 1U << (other->thread & 31U);
    }
  }
  const unsigned alive = block_->lanes_of(warp) & ~block_->lanes_exited[warp];
  if (lanes == alive) release_lanes(*block_, warp, calls);
  switch_threads(suspend(fiber));
  return static_cast<unsigned>(fiber.result);
}

void Worker::release_converging() {
  while (!converging_.empty()) {
    const Fiber& first = *converging_.front();
    release_lanes(*first.block, first.thread >> 5U, first.calls);
  }
}

/// Lets those lanes of a warp go on that have come to converge() by the same calls.
void Worker::release_lanes(const Block& block, unsigned warp, std::uint64_t calls) {
  const auto belongs = [&](const Fiber* fiber) {
    return fiber->block == &block && fiber->thread >> 5U == warp && fiber->calls == calls;
  };
  std::uint64_t lanes = 0;
  for (const Fiber* const fiber : converging_) {
    if (belongs(fiber)) lanes |= 1U << (fiber->thread & 31U);
  }
  for (Fiber* const fiber : converging_) {
    if (!belongs(fiber)) continue;
    fiber->result = lanes;
    wake(*fiber);
  }
  std::erase_if(converging_, belongs);
}

void Worker::wait_for(const void* key, const char* what, Place place) {
  Fiber& fiber = note_wait(what, place);
  fiber.key = key;
  waiting_.push_back(&fiber);
  switch_threads(suspend(fiber));
}

void Worker::wake_all(const void* key) {
  if (observer != nullptr) observer->ordered_otherwise();
  std::erase_if(waiting_, [&](Fiber* fiber) {
    if (fiber->key == key) wake(*fiber);
    return fiber->key == key;
  });
}

// ------------------------------------------------------------------------------------------------
// Blocks and grids

void Worker::run_current() {
  head_ = tail_ = 0;
  starting_ = 0;
  prefer_start_ = false;
  abandoned_ = false;
  alive_ = blocks_.size() * launch_->threads;
  at_grid_barrier_ = 0;
  converging_.clear();
  waiting_.clear();
  barrier_copies.clear();
  if (launch_->configuration.cooperative) waiting_.reserve(alive_);
  const std::size_t most_alive = observer == nullptr ? alive_ : std::max(alive_, max_competing_threads);
  const unsigned ring = std::bit_ceil(static_cast<unsigned>(most_alive) + 1U);
  if (ready_.size() < ring) ready_.resize(ring);
  ring_mask_ = static_cast<unsigned>(ready_.size()) - 1U;
  random_ = launch_->seed * 2 + number_;
  block_ = nullptr;
  if (idle_ == nullptr) idle_ = &new_fiber();  // the first is not made by another
  running_ = next_fiber();
  jump(main_, *running_);
  running_ = nullptr;
  shared_memory = nullptr;
  if (abandoned_) reset_fibers();
}

/// Runs what `run()` does of the launch.
template <class Run>
void Worker::execute(RunningLaunch& launch, Run run) {
  launch_ = &launch;
  this_worker = this;
  gridDim = launch.configuration.grid;
  blockDim = launch.configuration.block;
  const Watched watched(launch);
  try {
    run();
  } catch (const std::bad_alloc&) {
    launch.fail(cudaErrorMemoryAllocation);
  }
  blocks_.clear();
  this_worker = nullptr;
}

void Worker::run_blocks(RunningLaunch& launch, void (*after_block)(void*), void* data) {
  execute(launch, [&] {
    while (launch.error.load(std::memory_order_relaxed) == cudaSuccess) {
      blocks_.clear();
      if (!start_next_block()) break;
      run_current();
      after_block(data);
    }
  });
}

/// Starts the launch's next block, if there is one, beside those that run.
/// @throws std::bad_alloc
bool Worker::start_next_block() {
  const std::size_t place = blocks_.size();
  if (block_store_.size() == place) block_store_.push_back(std::make_unique<Block>());
  if (arenas_.size() == place) arenas_.push_back(new Arena);
  blocks_.reserve(place + 1);
  const std::uint64_t i = launch_->next_block.fetch_add(1);
  if (i >= launch_->blocks) return false;
  Block& block = *block_store_[place];
  block.start(*launch_, number_in_order(*launch_, i), *arenas_[place]);
  blocks_.push_back(&block);
  return true;
}

/// Runs a few more blocks at the same time as the one that runs, unless there are several already.
void Worker::run_more_blocks() {
  constexpr std::size_t enough = 8;
  if (launch_->configuration.cooperative || blocks_.size() > 1) return;
  try {
    while (blocks_.size() < enough && alive_ + launch_->threads <= max_competing_threads && start_next_block()) {
      alive_ += launch_->threads;
    }
  } catch (const std::bad_alloc&) {  // those that there are will do
  }
}

void Worker::run_grid(RunningLaunch& launch) {
  std::vector<std::unique_ptr<Block>> blocks;
  execute(launch, [&] {
    while (arenas_.size() < launch.blocks) arenas_.push_back(new Arena);
    for (std::uint64_t i = 0; i < launch.blocks; ++i) {
      blocks.push_back(std::make_unique<Block>());
      blocks[i]->start(launch, number_in_order(launch, i), *arenas_[i]);
      blocks_.push_back(blocks[i].get());
    }
    run_current();
  });
}

void Worker::abandon(cudaError_t error) {
  launch_->fail(error);
  abandoned_ = true;
  Fiber& self = *running_;
  running_ = nullptr;
  jump(self, main_);
  __builtin_unreachable();
}

void Worker::report_failure(Place place, const std::string& sentence) const {
  report_in_kernel(*this, to_string(place), sentence);
}

/// The threads of a block that wait for others, those at its barrier first.
std::vector<const Fiber*> Worker::waiting_in(const Block& block) const {
  std::vector<const Fiber*> fibers(block.at_barrier, block.at_barrier + block.arrived);
  for (unsigned warp = 0; warp * 32 < block.threads; ++warp) {
    for_lanes(block.lanes_waiting[warp], [&](unsigned lane) { fibers.push_back(block.at_exchange[warp * 32 + lane]); });
  }
  for (const Fiber* const fiber : waiting_) {
    if (fiber->block == &block) fibers.push_back(fiber);
  }
  return fibers;
}

std::string Worker::describe_deadlock(const Block& block) const {
  std::vector<const Fiber*> waiting = waiting_in(block);
  unsigned exited = block.exited;
  if (waiting.front()->mask != 0) {  // for the lanes of its warp only
    const unsigned warp = waiting.front()->thread / 32;
    std::erase_if(waiting, [&](const Fiber* fiber) { return fiber->thread / 32 != warp; });
    exited = static_cast<unsigned>(std::popcount(block.lanes_exited[warp]));
  }
  std::map<std::string, unsigned> groups;  // by what they wait for
  for (const Fiber* const fiber : waiting) {
    std::string group = std::string(fiber->what) + " in " + to_string(fiber->place);
    if (fiber->mask != 0) group += " with mask " + mask_in_digits(fiber->mask);
    ++groups[group];
  }
  std::string text = std::string("not all threads ") + (waiting.front()->mask != 0 ? "of the warp " : "") + "reach " +
                     std::string(waiting.front()->what) + ": ";
  bool next = false;
  for (const auto& [group, count] : groups) {
    text += (next ? ", " : "") + counted(count, "thread") + (count == 1 ? " waits" : " wait") + " at " + group;
    next = true;
  }
  if (exited > 0) {
    text += ", " + std::to_string(exited) + (exited == 1 ? " has" : " have") + " exited";
  }
  return text + ".";
}

/// Nobody can go on, yet some have not come to their end: they wait for threads that never come.
void Worker::deadlock() {
  for (Block* const block : blocks_) {
    const std::vector<const Fiber*> waiting = waiting_in(*block);
    if (waiting.empty()) continue;
    enter(*block);
    threadIdx = waiting.front()->index;
    if (launch_->fail(cudaErrorLaunchFailure)) {
      report_in_kernel(*this, to_string(waiting.front()->place), describe_deadlock(*block));
    }
    break;
  }
  abandon(cudaErrorLaunchFailure);
}

// ------------------------------------------------------------------------------------------------
// What kernels call

namespace {

[[noreturn, gnu::cold]] void called_by_host(const char* what, Place place) {
  end_program(place, std::string(what) + " was called by host code.");
}

inline Worker& in_kernel(const char* what, Place place) {
  Worker* const worker = this_worker;
  if (worker == nullptr || !worker->runs_kernel()) [[unlikely]]
    called_by_host(what, place);
  return *worker;
}

/// A copy to shared memory begins, and from here on nobody else may touch its target.
void note_copy(const AsyncCopy& copy, std::uintptr_t instruction) {
  if (observer == nullptr) return;
  constexpr unsigned widest = 16;
  for (unsigned i = 0; i < copy.bytes; i += widest) {
    Access access{};
    access.address = reinterpret_cast<std::uintptr_t>(copy.to) + i;
    access.instruction = instruction;
    access.bytes = std::min(widest, copy.bytes - i);
    access.writes = true;
    access.begins_copy = true;
    observer->access(*this_worker->running(), access);
  }
}

/// The instruction that calls the function which returns to `called_from`.
std::uintptr_t before(const void* called_from) { return reinterpret_cast<std::uintptr_t>(called_from) - 1; }

}  // namespace

Switch arrive_at_barrier(Vote vote, bool predicate, const char* what, Place place) {
  return in_kernel(what, place).barrier(vote, predicate, what, place);
}

void grid_barrier(Place place) { in_kernel("this_grid().sync()", place).wait_for_grid(place); }

Switch arrive_at_exchange(const Exchange& exchange) {
  return in_kernel(exchange.what, exchange.place).exchange(exchange);
}

unsigned active_lanes() {
  Worker& worker = in_kernel("__activemask", {});
  const unsigned warp = worker.running()->thread >> 5U;
  return worker.block().lanes_of(warp) & ~worker.block().lanes_exited[warp];
}

unsigned thread_in_block() { return in_kernel("a warp function", {}).running()->thread; }

void begin_async_copy(const AsyncCopy& copy, Place place) {
  Worker& worker = in_kernel("__pipeline_memcpy_async", place);
  const auto is_aligned = [&](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % copy.bytes == 0;
  };
  const bool is_right_size = copy.bytes == 4 || copy.bytes == 8 || copy.bytes == 16;
  if (!is_right_size || copy.zeros > copy.bytes || !is_aligned(copy.to) || !is_aligned(copy.from)) {
    worker.fail(cudaErrorMisalignedAddress, place, [&] {
      return "__pipeline_memcpy_async() was to copy " + std::to_string(copy.bytes) +
             " bytes, but it copies 4, 8 or 16, between addresses that are multiples of that.";
    });
  }
  if (!worker.block().arena->contains(copy.to)) {
    worker.fail(cudaErrorLaunchFailure, place,
                [] { return "__pipeline_memcpy_async() was to copy to an address outside of shared memory."; });
  }
  Fiber& fiber = *worker.running();
  for (std::size_t i = fiber.copies_done; i < fiber.copies.size(); ++i) {
    const AsyncCopy& earlier = fiber.copies[i].copy;
    const auto* const other = static_cast<const char*>(earlier.to);
    const auto* const begin = static_cast<const char*>(copy.to);
    if (begin < other + earlier.bytes && other < begin + copy.bytes) {
      worker.fail(cudaErrorLaunchFailure, place, [] {
        return "__pipeline_memcpy_async() was to copy to where a copy is still under way that this "
               "thread has not waited for.";
      });
    }
  }
  const std::uintptr_t instruction = before(__builtin_return_address(0));
  note_copy(copy, instruction);
  std::memset(copy.to, 0xff, copy.bytes);
  fiber.copies.push_back({copy, instruction});
}

void commit_async_copies() {
  Fiber& fiber = *this_worker->running();
  fiber.copy_groups.push_back(fiber.copies.size());
}

bool take_async_copy(unsigned prior, AsyncCopy& copy) {
  Fiber& fiber = *this_worker->running();
  const std::size_t groups = fiber.copy_groups.size();
  const std::size_t end = prior < groups ? fiber.copy_groups[groups - 1 - prior] : 0;
  if (fiber.copies_done < end) {
    const Fiber::RequestedCopy& oldest = fiber.copies[fiber.copies_done++];
    copy = oldest.copy;
    fiber.copy_instruction = oldest.instruction;
    if (observer != nullptr) observer->arrived(*fiber.block, copy.to, copy.bytes);
    return true;
  }
  fiber.copy_instruction = 0;
  if (fiber.copies_done > 0 && fiber.copies_done == fiber.copies.size()) forget_copies(fiber);
  return false;
}

unsigned converge(const char* what, Place place) { return in_kernel(what, place).converge(what, place); }

bool is_shared(const void* address) { return runs_in_kernel() && this_worker->block().arena->contains(address); }

void wait_for(const void* key, const char* what, Place place) { in_kernel(what, place).wait_for(key, what, place); }

void wake_all(const void* key) {
  if (runs_in_kernel()) this_worker->wake_all(key);
}

void tile_barrier(unsigned size, const char* what, Place place) {
  Worker& worker = in_kernel(what, place);
  Block& block = worker.block();
  if (!std::exchange(block.has_tiles, true)) std::fill_n(block.tile_arrived, 32, 0U);
  const unsigned tile = worker.running()->thread / size;
  // The tiles of one size have the numbers from 1024 / size on.
  unsigned& arrived = block.tile_arrived[max_threads / size + tile];
  const unsigned threads = std::min(size, block.threads - tile * size);
  if (++arrived < threads) {
    worker.wait_for(&arrived, what, place);
  } else {
    arrived = 0;
    worker.wake_all(&arrived);
  }
}

std::uint64_t* tile_values(unsigned size) {
  Worker& worker = in_kernel("a tile's function", {});
  return worker.block().tile_values + std::size_t{worker.running()->thread / size} * size;
}

void begin_barrier_copy(const void* barrier, const AsyncCopy& copy) {
  Worker& worker = in_kernel("memcpy_async", {});
  const std::uintptr_t instruction = before(__builtin_return_address(0));
  if (worker.block().arena->contains(copy.to)) {
    note_copy(copy, instruction);
    std::memset(copy.to, 0xff, copy.bytes);
  }
  worker.barrier_copies.push_back({barrier, copy, instruction});
}

bool take_barrier_copy(const void* barrier, AsyncCopy& copy) {
  Worker& worker = in_kernel("memcpy_async", {});
  auto& copies = worker.barrier_copies;
  const auto found =
      std::find_if(copies.begin(), copies.end(), [&](const auto& entry) { return entry.barrier == barrier; });
  Fiber& fiber = *worker.running();
  fiber.copy_instruction = found == copies.end() ? 0 : found->instruction;
  if (found == copies.end()) return false;
  copy = found->copy;
  copies.erase(found);
  if (observer != nullptr) observer->arrived(worker.block(), copy.to, copy.bytes);
  return true;
}

void fail_kernel(const char* sentence, Place place) {
  in_kernel("a function of the device", place).fail(cudaErrorLaunchFailure, place, [=] {
    return std::string(sentence);
  });
}

void trap(Place place) {
  in_kernel("__trap", place).fail(cudaErrorLaunchFailure, place, [] { return "__trap() was called."; });
}

void end_beyond_launch_bound(unsigned bound) {
  in_kernel("__launch_bounds__", {nullptr, 0}).fail(cudaErrorInvalidValue, {nullptr, 0}, [&] {
    return "the block has " + std::to_string(blockDim.x * blockDim.y * blockDim.z) +
           " threads, but the kernel's __launch_bounds__ allow " + std::to_string(bound) + ".";
  });
}

void fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (observer != nullptr && runs_in_kernel()) observer->fenced(*this_worker->running());
}

void note_sent(const volatile void* word, std::uint64_t number) {
  if (observer == nullptr || !runs_in_kernel()) return;
  observer->sent(*this_worker->running(), reinterpret_cast<std::uintptr_t>(word), number,
                 before(__builtin_return_address(0)));
}

void note_received(const volatile void* word, std::uint64_t number) {
  if (observer == nullptr || !runs_in_kernel()) return;
  observer->received(*this_worker->running(), reinterpret_cast<std::uintptr_t>(word), number,
                     before(__builtin_return_address(0)));
}

bool runs_in_kernel() { return this_worker != nullptr && this_worker->runs_kernel(); }

void go_in_lockstep(Place place) {
  if (!runs_in_kernel() || this_worker->launch().order != ThreadOrder::forward) return;
  const auto from = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  this_worker->converge(from, "a volatile store", place);
}

void let_others_compete() {
  if (!runs_in_kernel() || this_worker->launch().turns == 0) return;
  --this_worker->launch().turns;
  this_worker->compete();
}

__thread unsigned futile_attempts = 0;
__thread bool has_looked = false;

__attribute__((no_sanitize("thread"))) void let_others_run() {
  if (!runs_in_kernel()) return;
  // What they wait for may have to come from another process, which wants this core.
  static __thread unsigned turns = 0;
  constexpr unsigned turns_of_threads = 1024;
  if (++turns % turns_of_threads == 0) sched_yield();
  this_worker->yield();
}

}  // namespace cuda_on_cpu

/// @file
/// A block of threads, and the worker that runs blocks: one OS thread, on which the CUDA threads
/// take turns.
///
/// The threads of a block run one after another on one fiber. A thread that has to wait keeps that
/// fiber, and the next thread starts on another; so a kernel without barriers never switches.
#pragma once

#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_on_cpu/kernel.hpp"
#include "cuda_on_cpu/settings.hpp"
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cuda_on_cpu {

inline constexpr unsigned max_threads = 1024;
inline constexpr unsigned max_warps = max_threads / 32;
inline constexpr int threads_per_multiprocessor = 2048;
inline constexpr std::size_t default_shared_bytes = std::size_t{48} << 10;
inline constexpr std::size_t max_shared_bytes = std::size_t{227} << 10;

struct Block;

/// A stack of its own that a CUDA thread is suspended on. Switching costs about 5 ns with
/// Boost.Context; AddressSanitizer must be told of every switch.
///
/// What a barrier of the block touches comes first and fills one line of the cache.
struct alignas(64) Fiber : Suspended {
  // The CUDA thread that it runs.
  Block* block = nullptr;
  unsigned thread = 0;  ///< counted through the block

  // What the thread waits for.
  Place place{};
  const char* what = nullptr;
  unsigned mask = 0;
  Combine combine = nullptr;
  std::uint64_t value = 0;
  unsigned argument = 0;
  const void* key = nullptr;    ///< of wait_for()
  std::uint64_t calls = 0;      ///< by which it has come to converge()
  const char* frame = nullptr;  ///< where the thread's own part of the stack begins

  /// What it has asked for with __pipeline_memcpy_async() and not waited for.
  struct RequestedCopy {
    AsyncCopy copy;
    std::uintptr_t instruction;  ///< by which it was asked for
  };
  std::vector<RequestedCopy> copies;
  std::vector<std::size_t> copy_groups;  ///< where in `copies` each group ends
  std::size_t copies_done = 0;
  std::uintptr_t copy_instruction = 0;  ///< that of the copy that is being made; 0: of none

  char* stack = nullptr;  ///< the lowest address
  std::size_t stack_bytes = 0;
  char* stack_top = nullptr;
  Fiber* next_idle = nullptr;

#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  void* fake_stack = nullptr;
#endif
};

/// To be called first thing on a stack that has been switched to.
inline void arrived(boost::context::detail::transfer_t from, [[maybe_unused]] Fiber& self) {
  static_cast<Suspended*>(from.data)->context = from.fctx;
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  auto* const previous = static_cast<Fiber*>(static_cast<Suspended*>(from.data));
  // Of an OS thread's own stack, this is where its bounds become known.
  const void* stack = nullptr;
  __sanitizer_finish_switch_fiber(self.fake_stack, &stack, &previous->stack_bytes);
  previous->stack = static_cast<char*>(const_cast<void*>(stack));
#endif
}

/// Suspends one fiber and goes on with another.
inline void jump(Fiber& from, Fiber& to) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
  arrived(boost::context::detail::jump_fcontext(to.context, static_cast<Suspended*>(&from)), from);
}

// What AddressSanitizer is told about memory that is not to be touched.
/// From here on, an access is a mistake.
inline void poison([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  __asan_poison_memory_region(memory, bytes);
#endif
}
/// Accesses are right again.
inline void unpoison([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

/// A launch while it runs.
struct RunningLaunch {
  RunningLaunch(const char* kernel_name, const LaunchConfiguration& launch_configuration, Place launched_at,
                const KernelCall& kernel_call)
      : kernel(kernel_name),
        place(launched_at),
        configuration(launch_configuration),
        call(&kernel_call),
        threads(configuration.block.x * configuration.block.y * configuration.block.z),
        blocks(std::uint64_t{configuration.grid.x} * configuration.grid.y * configuration.grid.z) {}

  const char* kernel;
  Place place;
  LaunchConfiguration configuration;
  const KernelCall* call;
  unsigned threads;  ///< a block
  std::uint64_t blocks;
  std::size_t allowed_shared = 0;  ///< dynamic, by cudaFuncSetAttribute(); 0 for the usual
  ThreadOrder order = ThreadOrder::forward;
  bool strict = true;
  std::uint64_t seed = 0;
  unsigned turns = 2000;  ///< how often its threads let others go before them; see let_others_compete()
  std::atomic<std::uint64_t> next_block = 0;
  std::atomic<cudaError_t> error = cudaSuccess;
  std::mutex children_mutex;
  std::vector<std::function<void()>> children;  ///< what its threads have launched
  std::vector<std::function<void()>> tail;      ///< likewise, after all of that: cudaStreamTailLaunch

  /// The first error counts; says whether this is it.
  bool fail(cudaError_t code) {
    cudaError_t none = cudaSuccess;
    return error.compare_exchange_strong(none, code);
  }
};

/// Shared memory for one block at a time, between pages that nobody may touch. The dynamic part
/// ends where the second begins.
class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Empties it for the next block.
  void start_block(std::size_t dynamic_bytes);
  /// Room for a variable of the running block.
  char* place(std::size_t bytes, std::size_t alignment);
  /// Whether it is in shared memory or the pages around it that nobody may touch.
  bool contains(const void* address) const { return address >= pages_ && address < pages_ + bytes_; }
  std::size_t static_bytes() const { return static_bytes_; }
  /// All of it, with the pages around.
  const char* pages() const { return pages_; }
  std::size_t page_bytes() const { return bytes_; }

  SharedMemory table{};

 private:
  std::size_t gap_;  ///< between variables
  std::size_t bytes_;
  char* pages_ = nullptr;
  char* begin_ = nullptr;
  char* end_ = nullptr;
  char* next_ = nullptr;
  std::size_t static_bytes_ = 0;
};

/// A block while it runs: which of its threads have started, wait and have exited.
struct Block {
  /// Makes it block `number` of the launch, none of whose threads has started.
  void start(const RunningLaunch& launch, std::uint64_t number, Arena& with_arena);

  /// The lanes that a warp has.
  unsigned lanes_of(unsigned warp) const {
    const unsigned lanes = threads - warp * 32;
    return lanes >= 32 ? ~0U : (1U << lanes) - 1U;
  }

  Arena* arena = nullptr;
  uint3 index{};
  unsigned threads = 0;
  unsigned started = 0;
  unsigned exited = 0;
  uint3 next_index{};                ///< of the next thread to start, in the forward order
  std::vector<std::uint16_t> order;  ///< the threads in random order

  // The block's barrier.
  unsigned arrived = 0;
  Fiber* at_barrier[max_threads];
  Vote vote = Vote::none;
  unsigned votes = 0;
  bool mixed = false;  ///< threads have come to different barriers

  // The warps' exchanges.
  unsigned lanes_waiting[max_warps];
  unsigned lanes_exited[max_warps];
  Fiber* at_exchange[max_threads];

  // The barriers of tiles of 64, 128, 256, 512 and 1024 threads.
  bool has_tiles = false;
  unsigned tile_arrived[32];
  std::uint64_t tile_values[max_threads];
};

/// Runs blocks on one OS thread, their threads on fibers.
class Worker {
 public:
  explicit Worker(unsigned number);

  /// Runs blocks of the launch until there are no more; the caller's thread is the worker's.
  /// `after_block` is called after each. Where the host lacks memory, the launch fails.
  void run_blocks(RunningLaunch& launch, void (*after_block)(void*), void* data);
  /// Runs all blocks at once, for grids with a barrier.
  void run_grid(RunningLaunch& launch);

  /// The running thread has come to its block's barrier.
  Switch barrier(Vote vote, bool predicate, const char* what, Place place);
  /// The same for all threads of a cooperative launch.
  void wait_for_grid(Place place);
  /// The same for an exchange with lanes of its warp.
  Switch exchange(const Exchange& exchange);
  /// See converge() in kernel.hpp.
  unsigned converge(const char* what, Place place);
  /// The lanes that give the same number here are together.
  unsigned converge(std::uint64_t calls, const char* what, Place place);
  /// See wait_for() in kernel.hpp.
  void wait_for(const void* key, const char* what, Place place);
  /// See wake_all() in kernel.hpp.
  void wake_all(const void* key);
  /// Lets the other threads go on first, also those that have not started.
  void yield();
  /// See let_others_compete().
  void compete();

  /// Ends the running block; the error becomes the launch's.
  [[noreturn]] void abandon(cudaError_t error);
  /// The same with a sentence about the running thread, unless another block has failed before. ///
  /// The sentence is made by a function, so that nothing of it is left on the stack that is given
  /// up.
  template <class Sentence>
  [[noreturn]] void fail(cudaError_t error, Place place, const Sentence& sentence) {
    if (launch_->fail(error)) report_failure(place, sentence());
    abandon(error);
  }

  bool runs_kernel() const { return running_ != nullptr; }
  Fiber* running() const { return running_; }
  const Block& block() const { return *block_; }
  /// The running thread's.
  Block& block() { return *block_; }
  /// Copies that barriers will do when their phases end.
  struct BarrierCopy {
    const void* barrier;
    AsyncCopy copy;
    std::uintptr_t instruction;  ///< by which it was asked for
  };
  std::vector<BarrierCopy> barrier_copies;
  RunningLaunch& launch() const { return *launch_; }

 private:
  friend struct FiberEntry;

  template <class Run>
  void execute(RunningLaunch& launch, Run run);
  bool start_next_block();
  void run_more_blocks();
  void run_current();
  void serve();
  bool find_unstarted();
  bool start_next_thread(Fiber& fiber);
  void thread_exited(Fiber& fiber);
  Fiber& note_wait(const char* what, Place place, unsigned mask = 0);
  Switch suspend(Fiber& fiber);
  void wake(Fiber& fiber);
  Fiber* next_fiber();
  Fiber* next_ready();
  void report_failure(Place place, const std::string& sentence) const;
  void release_barrier(Block& block);
  void release_grid_barrier();
  static void count_votes(Block& block);
  void complete_exchanges(Block& block, unsigned warp);
  void complete_exchange(Block& block, unsigned warp, unsigned lanes);
  void enter(Block& block);
  Fiber* idle_fiber();
  Fiber& new_fiber();
  void reset_fibers();
  void release_converging();
  void release_lanes(const Block& block, unsigned warp, std::uint64_t calls);
  [[noreturn]] void fail_missing_lane(const Fiber& fiber, unsigned from);
  std::vector<const Fiber*> waiting_in(const Block& block) const;
  std::string describe_deadlock(const Block& block) const;
  [[noreturn]] void deadlock();
  std::uint64_t random();

  Fiber main_;  ///< the OS thread's own stack
  unsigned number_;
  RunningLaunch* launch_ = nullptr;
  Block* block_ = nullptr;    ///< of the running thread
  Fiber* running_ = nullptr;  ///< null while no kernel runs

  // Fibers that can go on, first come, first served: a ring whose size is a power of two.
  std::vector<Fiber*> ready_;
  unsigned head_ = 0;
  unsigned tail_ = 0;
  unsigned ring_mask_ = 0;

  Fiber* idle_ = nullptr;
  std::vector<Fiber*> fibers_;
  std::vector<Block*> blocks_;       ///< those being run: one, or a whole grid
  std::size_t starting_ = 0;         ///< the block whose threads are being started
  std::size_t alive_ = 0;            ///< threads that have not exited
  std::size_t at_grid_barrier_ = 0;  ///< threads, which wait for the launch as the key
  std::vector<Fiber*> converging_;
  std::vector<Fiber*> waiting_;  ///< for a key
  std::vector<Arena*> arenas_;
  bool abandoned_ = false;
  bool prefer_start_ = false;                        ///< start a thread before the ready ones go on
  std::vector<std::unique_ptr<Block>> block_store_;  ///< of run_blocks()
  std::uint64_t random_ = 1;
};

/// A thread is about to exchange a word, perhaps a lock. If mistakes are looked for, other threads come before it, also
/// those of some other blocks: where a lock does not lock, several are behind it then.
void let_others_compete();

/// The worker of this OS thread while it runs a kernel.
extern __thread Worker* this_worker;
/// How many stacks have guard pages; the kernel limits the number of mappings.
inline constexpr std::size_t fiber_stack_bytes =
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
    std::size_t{512} << 10;
#else
    std::size_t{256} << 10;
#endif
inline constexpr std::size_t guard_bytes = 4096;

/// Runs a launch to its end. One at a time: the caller holds the engine's mutex (stream.hpp).
void run(RunningLaunch& launch);

/// How many OS threads share the blocks: the processors of this process, divided by the MPI
/// processes on this machine.
unsigned worker_count();

/// In the child of a fork(): the other threads are not there any more.
void forget_pool();

}  // namespace cuda_on_cpu

/// @file
/// What watches kernels while they run: every access to memory, and everything that orders
/// accesses.
///
/// The compiler reports accesses if the kernels are compiled with -fsanitize=thread: before each
/// load and store it calls a function, which src/accesses.cpp defines instead of ThreadSanitizer's
/// library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/stream_clock.hpp"

namespace cuda_on_cpu {

// What lets most accesses end without a call of the observer: what is known about the thread that
// runs, and about the memory that it is likely to access.

/// An access that is counted later, together with those of the warp's other lanes.
struct KeptAccess {
  std::uintptr_t address;  ///< in global memory, as a GPU would have it
  std::uint64_t key;       ///< see key_of()
};

/// What is the same for all lanes of a request: the instruction, the kind of access and its size.
constexpr std::uint64_t key_of(std::uintptr_t instruction, unsigned kind, unsigned bytes) {
  return std::uint64_t{instruction} << 8U | kind << 5U | bytes;
}
/// The kinds are 0 to 2 for loads, stores and atomics of global memory, 3 to 5 of shared memory.
constexpr unsigned kind_of(bool is_shared, bool writes, bool is_atomic) {
  return (is_shared ? 3U : 0U) + (is_atomic ? 2U : (writes ? 1U : 0U));
}

/// Whether an access with this key is one of an atomic function.
constexpr bool is_atomic(std::uint64_t key) { return (key >> 5U & 7U) % 3 == 2; }

/// Where a thread's accesses are kept; full at the beginning.
struct KeptAccesses {
  KeptAccess* begin = nullptr;
  KeptAccess* next = nullptr;
  KeptAccess* end = nullptr;
};

/// Memory whose accesses need not be looked up. `shift` leads from an address to the one that is
/// kept, or to what is known about the word there.
struct Window {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::uintptr_t shift = 0;

  /// Whether an access begins there.
  bool has(std::uintptr_t address) const { return address - begin < bytes; }
};

/// What is known of the time and the last accesses of a word, in one number; see words.hpp.
using WordMark = std::uint32_t;
/// No word's.
inline constexpr WordMark no_mark = ~WordMark{0};

/// The thread that has last been asked for. One OS thread runs all while something is observed.
struct Running {
  const Fiber* fiber = nullptr;
  std::uintptr_t stack = 0;
  std::size_t stack_bytes = 0;   ///< 0 if another thread may be running, or this one in another state
  Window shared;                 ///< its block's memory
  KeptAccesses* kept = nullptr;  ///< null unless accesses are counted
  /// Plain reads of words that have one of these change nothing that is known of them.
  std::array<WordMark, 3> quiet{no_mark, no_mark, no_mark};
};
inline Running running;

/// Something has happened that accesses depend on.
inline void forget_running() { running.stack_bytes = 0; }

/// Global memory by the 256 KiB that an address is in: so much lies between allocations, too.
inline constexpr unsigned granule_bits = 18;
inline std::array<Window, 1024> windows;

/// The place for the window that an address is in.
inline Window& window_at(std::uintptr_t address) { return windows[(address >> granule_bits) % windows.size()]; }

/// Likewise, memory whose accesses are nobody's business: the runtime's own, for the most part.
inline std::array<Window, 1024> ignored;

/// Its place for what an address is in.
inline Window& ignored_at(std::uintptr_t address) { return ignored[(address >> granule_bits) % ignored.size()]; }

/// Global memory that has been accessed: an allocation with its pages, or the program's variables.
/// Numbers are never given twice.
struct MemoryRange {
  std::uintptr_t begin;   ///< of its pages
  std::uintptr_t end;     ///< of its pages
  std::uintptr_t origin;  ///< where the allocation itself begins
  unsigned number;
  bool of_variables = false;  ///< those outside of functions, such as __device__ ones
};

/// One access of one thread.
struct Access {
  std::uintptr_t address;
  std::uintptr_t instruction;  ///< the address that the compiler's call returns to
  unsigned bytes;
  bool reads;
  bool writes;  ///< an atomic function may do both
  bool is_atomic;
  bool is_volatile;
  bool releases;             ///< an atomic write that orders what came before, without a fence
  bool acquires;             ///< an atomic read that orders what comes after, without a fence
  const MemoryRange* range;  ///< of global memory; null for shared memory
  bool begins_copy = false;  ///< an asynchronous one, which writes later

  bool is_shared() const { return range == nullptr; }
};

/// What is called while a kernel runs. While there is one, a single OS thread runs all blocks.
class Observer {
 public:
  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// A launch begins; all that follows is about it.
  virtual void start_launch(const RunningLaunch& launch) = 0;
  /// All its blocks have ended, or one has failed.
  virtual void end_launch(RunningLaunch& launch) = 0;
  /// The block's first thread is about to start.
  virtual void start_block(const Block& block) = 0;
  /// The fiber goes on, and `running` is to tell what its accesses need.
  virtual void resume(const Fiber& fiber) = 0;
  /// The thread that the fiber runs is about to access memory.
  virtual void access(const Fiber& fiber, const Access& access) = 0;
  /// Where accesses to global memory need not be looked up any more.
  virtual Window window(const MemoryRange& range) = 0;
  /// All threads of the block have come to its barrier.
  virtual void passed_barrier(const Block& block) = 0;
  /// These lanes of a warp have come to an exchange.
  virtual void synchronized(const Block& block, unsigned warp, unsigned lanes) = 0;
  /// Something has ordered the accesses of some threads in a way that is not looked into: a barrier
  /// of the grid or of a tile, a cuda::barrier.
  virtual void ordered_otherwise() = 0;
  /// A thread of the block has ended.
  virtual void thread_exited(const Block& block, unsigned thread) = 0;

  /// The thread has executed __threadfence() or a relative.
  virtual void fenced(const Fiber& /*fiber*/) {}
  /// It has called declare_sent(); see declare.h.
  virtual void sent(const Fiber& /*fiber*/, std::uintptr_t /*word*/, std::uint64_t /*number*/,
                    std::uintptr_t /*instruction*/) {}
  /// It has called declare_received().
  virtual void received(const Fiber& /*fiber*/, std::uintptr_t /*word*/, std::uint64_t /*number*/,
                        std::uintptr_t /*instruction*/) {}
  /// An asynchronous copy into the block's shared memory has arrived.
  virtual void arrived(const Block& /*block*/, const void* /*begin*/, std::size_t /*bytes*/) {}
  /// A __shared__ variable has been given its place.
  virtual void placed(const Block& /*block*/, const char* /*name*/, const char* /*begin*/, std::size_t /*bytes*/) {}
  /// Memory of the device is there. Nobody has written it.
  virtual void allocated(std::uintptr_t /*begin*/, std::size_t /*bytes*/) {}
  /// It is gone, and others may get its addresses.
  virtual void freed(std::uintptr_t /*begin*/) {}
  /// Other processes may access it from now on. Their accesses are recorded in the file that they
  /// share, from an offset on; see memory_shadow.hpp.
  virtual void shared(std::uintptr_t /*begin*/, std::size_t /*bytes*/, int /*file*/, std::size_t /*offset*/) {}
  /// A copy is about to read memory.
  virtual void copied(std::uintptr_t /*begin*/, std::size_t /*bytes*/) {}
  /// A copy or a fill has written memory.
  virtual void filled(std::uintptr_t /*begin*/, std::size_t /*bytes*/) {}

  /// A piece of work of a stream begins, with what is over by then. Streams run it when it is enqueued.
  virtual void piece_begins(const PieceNumber& /*number*/, const StreamClock& /*clock*/, bool /*several_streams*/) {}
  /// The host has waited for what the clock knows.
  virtual void host_waited(const StreamClock& /*clock*/) {}
  /// The piece that runs calls a function of the host.
  virtual void host_function_begins() {}
  /// Host code is about to access memory, while `watches_host` is set.
  virtual void host_access(const Access& /*access*/) {}

  StreamClock host_clock;             ///< what the host knows to be over
  bool watches_host = false;          ///< something is not
  std::uint64_t allocations = 0;      ///< how often memory has become known
  std::uint64_t frees = 0;            ///< how often it has been freed
  bool watches_variables = false;     ///< wants accesses to variables outside of functions, too
  bool lets_threads_compete = false;  ///< for locks; see let_others_compete()
};

/// The observer; null unless the program's kernels report their accesses and the environment
/// variable STAGEWISE_CPU_OBSERVE asks for it.
extern Observer* observer;

/// A copy is about to read memory of the host or of the device.
inline void note_copied(const void* begin, std::size_t bytes) {
  if (observer != nullptr) observer->copied(reinterpret_cast<std::uintptr_t>(begin), bytes);
}
/// A copy or a fill has written memory of the host or of the device.
inline void note_filled(const void* begin, std::size_t bytes) {
  if (observer != nullptr) observer->filled(reinterpret_cast<std::uintptr_t>(begin), bytes);
}

/// Counts what kernels ask of memory, and prints it when the program ends; see src/counts.cpp.
Observer* make_counting_observer();
/// Reports accesses that nothing orders, and reads of what nobody has written; see src/races.cpp.
Observer* make_checking_observer();

/// Finds out what accesses of the thread that the fiber runs need, unless that is known.
void resume(const Fiber& fiber);

/// The global memory at an address; null if it is nowhere near any.
const MemoryRange* range_of(std::uintptr_t address);

}  // namespace cuda_on_cpu

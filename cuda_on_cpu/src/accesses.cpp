/// @file
/// What the compiler calls at each load and store of kernels that are compiled with
/// -fsanitize=thread. The names are those of ThreadSanitizer's library, which is not linked.
///
/// Part of a program only if its kernels call these functions.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "cuda_on_cpu/block.hpp"
#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/findings.hpp"
#include "cuda_on_cpu/locals.h"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/settings.hpp"

// With AddressSanitizer, no kernel reports its accesses.
#ifndef CUDA_ON_CPU_ADDRESS_SANITIZER

namespace cuda_on_cpu {
namespace {

/// What the compiler says about an access. In one byte, which is a constant in a register.
struct Kind {
  bool reads : 1;
  bool writes : 1;
  bool is_atomic : 1 = false;
  bool is_volatile : 1 = false;
  bool releases : 1 = false;
  bool acquires : 1 = false;
  bool of_copy : 1 = false;  ///< which may be of what is not set everywhere

  constexpr bool is_plain_read() const { return reads && !writes && !is_atomic && !is_volatile; }
};
constexpr Kind read{true, false};
constexpr Kind write{false, true};

/// Makes the thread that runs the one that `running` is about; null if it is none of a kernel.
const Fiber* resume_thread() {
  Worker* const worker = this_worker;
  if (worker == nullptr) return nullptr;
  const Fiber* const fiber = worker->running();
  if (fiber == nullptr || fiber->block == nullptr) return nullptr;
  resume(*fiber);
  return fiber;
}

/// An access of a kernel that is not known to be uninteresting, or of other code.
[[gnu::noinline]] void note_elsewhere(const volatile void* pointer, unsigned bytes, Kind kind, void* called_from) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const Fiber* const fiber = resume_thread();
  if (fiber == nullptr && observer->watches_host) [[unlikely]] {
    observer->host_access({address, reinterpret_cast<std::uintptr_t>(called_from) - 1, bytes, kind.reads, kind.writes,
                           kind.is_atomic, kind.is_volatile, kind.releases, kind.acquires, nullptr});
  }
  if (fiber == nullptr || address - running.stack < running.stack_bytes) return;
  const MemoryRange* range = nullptr;
  if (!this_worker->block().arena->contains(const_cast<const void*>(pointer))) {
    range = range_of(address);
    if (range == nullptr) return;
    Window& window = window_at(address);
    if (!window.has(address)) window = observer->window(*range);
  }
  // A copy is reported at the line that requested it.
  const std::uintptr_t instruction =
      fiber->copy_instruction != 0 ? fiber->copy_instruction : reinterpret_cast<std::uintptr_t>(called_from) - 1;
  observer->access(*fiber, {address, instruction, bytes, kind.reads, kind.writes, kind.is_atomic, kind.is_volatile,
                            kind.releases, kind.acquires, range});
}

/// Keeps an access of the running thread, if there is room.
[[gnu::always_inline]] inline bool keep(std::uintptr_t address, unsigned bytes, unsigned kind, void* called_from) {
  KeptAccesses& kept = *running.kept;
  if (kept.next == kept.end || running.fiber->copy_instruction != 0) [[unlikely]]
    return false;
  *kept.next++ = {address, key_of(reinterpret_cast<std::uintptr_t>(called_from) - 1, kind, bytes)};
  return true;
}

/// Whether all words have marks by which a plain read changes nothing.
[[gnu::always_inline]] inline bool is_quiet(std::uintptr_t first_mark, unsigned bytes) {
  if (first_mark % sizeof(WordMark) != 0 || bytes < 4) return false;
  const auto* const marks = reinterpret_cast<const WordMark*>(first_mark);
  for (unsigned i = 0; i < bytes / 4; ++i) {
    const auto& [of_warp, of_block, of_all] = running.quiet;
    if (marks[i] != of_warp && marks[i] != of_block && marks[i] != of_all) return false;
  }
  return true;
}

// What begins a local variable is a NaN that no arithmetic makes, with the number of its declaration.
constexpr std::uint32_t begin_of_locals = 0x7fb5a000;
constexpr std::uint32_t max_locals = 0x1000;
std::array<const Local*, max_locals> locals;
std::atomic<std::uint32_t> last_local;

std::uint32_t word_at(const volatile void* pointer) {
  std::uint32_t word = 0;
  std::memcpy(&word, const_cast<const void*>(pointer), sizeof(word));
  return word;
}

/// A read on the thread's own stack of what may be such a beginning.
[[gnu::noinline]] void note_local(const volatile void* pointer, unsigned bytes, void* called_from) {
  const std::uint32_t word = word_at(pointer);
  const std::uint32_t number = word - begin_of_locals;
  if (number == 0 || number > last_local) return;
  for (unsigned i = 4; i < bytes; i += 4) {
    if (word_at(static_cast<const volatile char*>(pointer) + i) != word) return;
  }
  const Fiber* const fiber = resume_thread();
  if (fiber == nullptr) return;
  const std::uintptr_t instruction = reinterpret_cast<std::uintptr_t>(called_from) - 1;
  end_by_local({number_of(*fiber->block), fiber->thread, instruction, false, false}, *locals[number]);
}

[[gnu::always_inline]] inline void note(const volatile void* pointer, unsigned bytes, Kind kind, void* called_from) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (frame - running.stack < running.stack_bytes) [[likely]] {
    // Most accesses to local arrays are on the stack that we are on.
    if (address - running.stack < running.stack_bytes) {
      if (kind.is_plain_read() && !kind.of_copy && bytes >= 4 && word_at(pointer) - begin_of_locals < max_locals)
          [[unlikely]]
        note_local(pointer, bytes, called_from);
      return;
    }
    const bool is_shared = running.shared.has(address);
    const Window& window = is_shared ? running.shared : window_at(address);
    if (window.has(address)) [[likely]] {
      const std::uintptr_t shifted = address + window.shift;
      if (running.kept != nullptr) {
        const unsigned number = kind_of(is_shared, kind.writes, kind.is_atomic);
        if (keep(shifted, bytes, number, called_from)) return;
      } else if (kind.is_plain_read() && is_quiet(shifted, bytes)) {
        return;
      }
    } else if (ignored_at(address).has(address)) {
      return;
    }
  } else if (observer == nullptr) {
    return;
  }
  note_elsewhere(pointer, bytes, kind, called_from);
}

/// Whether the running thread, whose accesses are counted, has looked there before, and since then
/// at nothing but what it looks at in turn: it waits. How often depends on the time, so the first
/// look counts for all.
bool looks_again(const volatile void* pointer, unsigned bytes, void* called_from) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (observer == nullptr) return false;
  if (frame - running.stack >= running.stack_bytes && resume_thread() == nullptr) return false;
  if (running.kept == nullptr) return false;
  const bool is_shared = running.shared.has(address);
  const Window& window = is_shared ? running.shared : window_at(address);
  if (!window.has(address)) return false;
  const std::uint64_t key =
      key_of(reinterpret_cast<std::uintptr_t>(called_from) - 1, kind_of(is_shared, false, true), bytes);
  for (const KeptAccess* kept = running.kept->next; kept != running.kept->begin;) {
    --kept;
    if (kept->key == key && kept->address == address + window.shift) return true;
    if (!is_atomic(kept->key)) return false;
  }
  return false;
}

constexpr bool releases(int order) {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

constexpr bool acquires(int order) { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }

inline bool is_competing() { return observer != nullptr && observer->lets_threads_compete; }

/// A compare-and-swap that fails does not write.
template <class T>
inline void note_swap(volatile T* object, T expected, int order, void* called_from) {
  if (is_competing()) {
    note(object, sizeof(T), {true, false, true}, called_from);  // what it has read before was a guess
    let_others_compete();
  }
  const bool writes = __atomic_load_n(object, __ATOMIC_SEQ_CST) == expected;
  note(object, sizeof(T), {true, writes, true, false, writes && releases(order)}, called_from);
}

/// Accesses to objects of other sizes, as the widest that a GPU would take.
void note_range(const void* begin, std::size_t bytes, Kind kind, void* called_from) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  kind.of_copy = true;
  std::size_t step = 16;
  while (step > 1 && (address % step != 0 || bytes % step != 0)) step /= 2;
  for (std::size_t i = 0; i < bytes; i += step) {
    note(static_cast<const char*>(begin) + i, static_cast<unsigned>(step), kind, called_from);
  }
}

/// Before main(), and before anything is allocated.
[[gnu::constructor]] void start_observing() {
  kernels_report_accesses = true;
  const char* const wanted = std::getenv("STAGEWISE_CPU_OBSERVE");  // NOLINT(concurrency-mt-unsafe)
  if (wanted == nullptr) return;
  if (std::strcmp(wanted, "counters") == 0) observer = make_counting_observer();
  if (std::strcmp(wanted, "mistakes") == 0) observer = make_checking_observer();
}

}  // namespace

/// Declared in cuda_on_cpu/locals.h.
void begin_local(Local& local, volatile void* begin, unsigned long bytes) {
  if (observer == nullptr) return;
  std::atomic_ref number(local.number);
  if (number == 0) {
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    if (last_local + 1 == max_locals) return;
    if (number == 0) {
      locals[last_local + 1] = &local;
      number = ++last_local;
    }
  }
  const std::uint32_t word = begin_of_locals + number;
  auto* const words = const_cast<char*>(static_cast<volatile char*>(begin));
  for (unsigned long i = 0; i < bytes; i += sizeof(word)) std::memcpy(words + i, &word, sizeof(word));
}

/// Declared in cuda_on_cpu/atomic_functions.h, for kernels: they are not to report it.
template <class Bits>
bool end_update(volatile Bits* place, Bits& before, Bits after) {
  return __atomic_compare_exchange_n(place, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
template bool end_update(volatile std::uint16_t* place, std::uint16_t& before, std::uint16_t after);
template bool end_update(volatile std::uint32_t* place, std::uint32_t& before, std::uint32_t after);
template bool end_update(volatile std::uint64_t* place, std::uint64_t& before, std::uint64_t after);

}  // namespace cuda_on_cpu

// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp,
// readability-identifier-naming): the names are the compiler's and the linker's.
using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}

#define CUDA_ON_CPU_ACCESS(name, bytes, ...) \
  void __tsan_##name(void* address) { note(address, bytes, Kind{__VA_ARGS__}, __builtin_return_address(0)); }
#define CUDA_ON_CPU_READ_WRITE(name, bytes)                                \
  void __tsan_##name(void* address) {                                      \
    note(address, bytes, cuda_on_cpu::read, __builtin_return_address(0));  \
    note(address, bytes, cuda_on_cpu::write, __builtin_return_address(0)); \
  }
#define CUDA_ON_CPU_ACCESSES(bytes)                                                    \
  CUDA_ON_CPU_ACCESS(read##bytes, bytes, true, false)                                  \
  CUDA_ON_CPU_ACCESS(write##bytes, bytes, false, true)                                 \
  CUDA_ON_CPU_ACCESS(unaligned_read##bytes, bytes, true, false)                        \
  CUDA_ON_CPU_ACCESS(unaligned_write##bytes, bytes, false, true)                       \
  CUDA_ON_CPU_ACCESS(volatile_read##bytes, bytes, true, false, false, true)            \
  CUDA_ON_CPU_ACCESS(volatile_write##bytes, bytes, false, true, false, true)           \
  CUDA_ON_CPU_ACCESS(unaligned_volatile_read##bytes, bytes, true, false, false, true)  \
  CUDA_ON_CPU_ACCESS(unaligned_volatile_write##bytes, bytes, false, true, false, true) \
  CUDA_ON_CPU_READ_WRITE(read_write##bytes, bytes)                                     \
  CUDA_ON_CPU_READ_WRITE(unaligned_read_write##bytes, bytes)
CUDA_ON_CPU_ACCESSES(1)
CUDA_ON_CPU_ACCESSES(2)
CUDA_ON_CPU_ACCESSES(4)
CUDA_ON_CPU_ACCESSES(8)
CUDA_ON_CPU_ACCESSES(16)

void __tsan_read_range(void* begin, std::size_t bytes) {
  note_range(begin, bytes, cuda_on_cpu::read, __builtin_return_address(0));
}
void __tsan_write_range(void* begin, std::size_t bytes) {
  note_range(begin, bytes, cuda_on_cpu::write, __builtin_return_address(0));
}
void __tsan_vptr_read(void** /*object*/) {}
void __tsan_vptr_update(void** /*object*/, void* /*value*/) {}

// Called instead of the C library's functions, by kernels only: clang copies objects by them.
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  note_range(from, bytes, cuda_on_cpu::read, __builtin_return_address(0));
  note_range(to, bytes, cuda_on_cpu::write, __builtin_return_address(0));
  return std::memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  note_range(from, bytes, cuda_on_cpu::read, __builtin_return_address(0));
  note_range(to, bytes, cuda_on_cpu::write, __builtin_return_address(0));
  return std::memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  note_range(to, bytes, cuda_on_cpu::write, __builtin_return_address(0));
  return std::memset(to, value, bytes);
}

// Atomic functions, which the compiler calls instead of being told of.
#define CUDA_ON_CPU_NOTE_ATOMIC(T, reads, writes, order)                                                         \
  note(object, sizeof(T), {reads, writes, true, false, (writes) && releases(order), (reads) && acquires(order)}, \
       __builtin_return_address(0))
#define CUDA_ON_CPU_FETCH(bits, T, name)                                           \
  T __tsan_atomic##bits##_fetch_##name(volatile T* object, T operand, int order) { \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true, true, order);                                 \
    return __atomic_fetch_##name(object, operand, __ATOMIC_SEQ_CST);               \
  }
#define CUDA_ON_CPU_ATOMICS(bits, T)                                                                                  \
  T __tsan_atomic##bits##_load(const volatile T* object, int order) {                                                 \
    const T value = __atomic_load_n(object, __ATOMIC_SEQ_CST);                                                        \
    if (!looks_again(object, sizeof(T), __builtin_return_address(0))) /* by what has been found */                    \
      CUDA_ON_CPU_NOTE_ATOMIC(T, true, false, order);                                                                 \
    return value;                                                                                                     \
  }                                                                                                                   \
  void __tsan_atomic##bits##_store(volatile T* object, T value, int order) {                                          \
    CUDA_ON_CPU_NOTE_ATOMIC(T, false, true, order);                                                                   \
    __atomic_store_n(object, value, __ATOMIC_SEQ_CST);                                                                \
  }                                                                                                                   \
  T __tsan_atomic##bits##_exchange(volatile T* object, T value, int order) {                                          \
    if (is_competing()) let_others_compete();                                                                         \
    CUDA_ON_CPU_NOTE_ATOMIC(T, false, true, order);                                                                   \
    return __atomic_exchange_n(object, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                                   \
  CUDA_ON_CPU_FETCH(bits, T, add)                                                                                     \
  CUDA_ON_CPU_FETCH(bits, T, sub)                                                                                     \
  CUDA_ON_CPU_FETCH(bits, T, and)                                                                                     \
  CUDA_ON_CPU_FETCH(bits, T, or)                                                                                      \
  CUDA_ON_CPU_FETCH(bits, T, xor)                                                                                     \
  CUDA_ON_CPU_FETCH(bits, T, nand)                                                                                    \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* object, T* expected, T value, int order,              \
                                                    int /*failure*/) {                                                \
    note_swap(object, *expected, order, __builtin_return_address(0));                                                 \
    return end_update(object, *expected, value);                                                                      \
  }                                                                                                                   \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* object, T* expected, T value, int order,                \
                                                  int /*failure*/) {                                                  \
    note_swap(object, *expected, order, __builtin_return_address(0));                                                 \
    return end_update(object, *expected, value);                                                                      \
  }                                                                                                                   \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* object, T expected, T value, int order, int /*failure*/) { \
    note_swap(object, expected, order, __builtin_return_address(0));                                                  \
    end_update(object, expected, value);                                                                              \
    return expected;                                                                                                  \
  }
CUDA_ON_CPU_ATOMICS(8, unsigned char)
CUDA_ON_CPU_ATOMICS(16, unsigned short)
CUDA_ON_CPU_ATOMICS(32, unsigned)
CUDA_ON_CPU_ATOMICS(64, unsigned long long)

void __tsan_atomic_thread_fence(int /*order*/) { cuda_on_cpu::fence(); }
void __tsan_atomic_signal_fence(int /*order*/) {}
}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp,
// readability-identifier-naming)

#endif

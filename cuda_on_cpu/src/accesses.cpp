/// @file
/// What the compiler calls at each load and store of kernels that are compiled with
/// -fsanitize=thread. The names are those of ThreadSanitizer's library, which is not linked.
///
/// Part of a program only if its kernels call these functions.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>

#include "cuda_on_cpu/counters.hpp"
#include "cuda_on_cpu/fiber.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/settings.hpp"

// ThreadSanitizer's library has these functions itself.
#if !defined(CUDA_ON_CPU_ADDRESS_SANITIZER) && !defined(CUDA_ON_CPU_THREAD_SANITIZER)

namespace cuda_on_cpu {
namespace {

/// The ranges by the 256 KiB that an address is in: so much lies between allocations, too.
constexpr unsigned granule_bits = 18;
std::array<const MemoryRange*, 1024> known_ranges{};
std::deque<MemoryRange> ranges;
unsigned next_number = 0;
std::uint64_t known_frees = 0;

/// The global memory at an address; null if it is nowhere near any.
const MemoryRange* range_of(std::uintptr_t address) {
  if (observer->frees != known_frees) {  // others may have these addresses now
    known_frees = observer->frees;
    known_ranges.fill(nullptr);
    ranges.clear();
  }
  const MemoryRange*& known = known_ranges[(address >> granule_bits) % known_ranges.size()];
  if (known != nullptr && address - known->begin < known->end - known->begin) return known;
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) return nullptr;
  for (const MemoryRange& range : ranges) {
    if (range.begin == found->pages) return known = &range;
  }
  ranges.push_back({found->pages, found->pages + found->page_bytes, found->begin, next_number++});
  return known = &ranges.back();
}

inline void note(const void* pointer, unsigned bytes, bool writes, bool is_atomic,
                 void* called_from) {
  Worker* const worker = this_worker;
  if (worker == nullptr || observer == nullptr) return;
  const Fiber* const fiber = worker->running();
  if (fiber == nullptr || fiber->block == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address - reinterpret_cast<std::uintptr_t>(fiber->stack) < fiber->stack_bytes) return;
  const MemoryRange* range = nullptr;
  if (!worker->block().arena->contains(pointer)) {
    range = range_of(address);
    if (range == nullptr) return;
  }
  observer->access(*fiber, {address, reinterpret_cast<std::uintptr_t>(called_from) - 1, bytes,
                            writes, is_atomic, range});
}

/// Accesses to objects of other sizes, as the widest that a GPU would take.
void note_range(const char* begin, std::size_t bytes, bool writes, void* called_from) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  std::size_t step = 16;
  while (step > 1 && (address % step != 0 || bytes % step != 0)) step /= 2;
  for (std::size_t i = 0; i < bytes; i += step) {
    note(begin + i, static_cast<unsigned>(step), writes, false, called_from);
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

}  // namespace cuda_on_cpu

// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp,
// readability-identifier-naming): the names are the compiler's.
using cuda_on_cpu::note;
using cuda_on_cpu::note_range;

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}

#define CUDA_ON_CPU_ACCESS(name, bytes, writes)                       \
  void __tsan_##name(void* address) {                                 \
    note(address, bytes, writes, false, __builtin_return_address(0)); \
  }
#define CUDA_ON_CPU_ACCESSES(bytes)                                  \
  CUDA_ON_CPU_ACCESS(read##bytes, bytes, false)                      \
  CUDA_ON_CPU_ACCESS(write##bytes, bytes, true)                      \
  CUDA_ON_CPU_ACCESS(unaligned_read##bytes, bytes, false)            \
  CUDA_ON_CPU_ACCESS(unaligned_write##bytes, bytes, true)            \
  CUDA_ON_CPU_ACCESS(volatile_read##bytes, bytes, false)             \
  CUDA_ON_CPU_ACCESS(volatile_write##bytes, bytes, true)             \
  CUDA_ON_CPU_ACCESS(unaligned_volatile_read##bytes, bytes, false)   \
  CUDA_ON_CPU_ACCESS(unaligned_volatile_write##bytes, bytes, true)   \
  void __tsan_read_write##bytes(void* address) {                     \
    note(address, bytes, false, false, __builtin_return_address(0)); \
    note(address, bytes, true, false, __builtin_return_address(0));  \
  }                                                                  \
  void __tsan_unaligned_read_write##bytes(void* address) {           \
    note(address, bytes, false, false, __builtin_return_address(0)); \
    note(address, bytes, true, false, __builtin_return_address(0));  \
  }
CUDA_ON_CPU_ACCESSES(1)
CUDA_ON_CPU_ACCESSES(2)
CUDA_ON_CPU_ACCESSES(4)
CUDA_ON_CPU_ACCESSES(8)
CUDA_ON_CPU_ACCESSES(16)

void __tsan_read_range(void* begin, std::size_t bytes) {
  note_range(static_cast<const char*>(begin), bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(void* begin, std::size_t bytes) {
  note_range(static_cast<const char*>(begin), bytes, true, __builtin_return_address(0));
}
void __tsan_vptr_read(void** /*object*/) {}
void __tsan_vptr_update(void** /*object*/, void* /*value*/) {}

// Atomic functions, which the compiler calls instead of being told of.
#define CUDA_ON_CPU_NOTE_ATOMIC(T, writes) \
  note(const_cast<const T*>(object), sizeof(T), writes, true, __builtin_return_address(0))
#define CUDA_ON_CPU_FETCH(bits, T, name)                                               \
  T __tsan_atomic##bits##_fetch_##name(volatile T* object, T operand, int /*order*/) { \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true);                                                  \
    return __atomic_fetch_##name(object, operand, __ATOMIC_SEQ_CST);                   \
  }
#define CUDA_ON_CPU_ATOMICS(bits, T)                                                          \
  T __tsan_atomic##bits##_load(const volatile T* object, int /*order*/) {                     \
    CUDA_ON_CPU_NOTE_ATOMIC(T, false);                                                        \
    return __atomic_load_n(object, __ATOMIC_SEQ_CST);                                         \
  }                                                                                           \
  void __tsan_atomic##bits##_store(volatile T* object, T value, int /*order*/) {              \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true);                                                         \
    __atomic_store_n(object, value, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  T __tsan_atomic##bits##_exchange(volatile T* object, T value, int /*order*/) {              \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true);                                                         \
    return __atomic_exchange_n(object, value, __ATOMIC_SEQ_CST);                              \
  }                                                                                           \
  CUDA_ON_CPU_FETCH(bits, T, add)                                                             \
  CUDA_ON_CPU_FETCH(bits, T, sub)                                                             \
  CUDA_ON_CPU_FETCH(bits, T, and)                                                             \
  CUDA_ON_CPU_FETCH(bits, T, or)                                                              \
  CUDA_ON_CPU_FETCH(bits, T, xor)                                                             \
  CUDA_ON_CPU_FETCH(bits, T, nand)                                                            \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* object, T* expected, T value, \
                                                    int /*order*/, int /*failure*/) {         \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true);                                                         \
    return __atomic_compare_exchange_n(object, expected, value, false, __ATOMIC_SEQ_CST,      \
                                       __ATOMIC_SEQ_CST);                                     \
  }                                                                                           \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* object, T* expected, T value,   \
                                                  int /*order*/, int /*failure*/) {           \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true);                                                         \
    return __atomic_compare_exchange_n(object, expected, value, false, __ATOMIC_SEQ_CST,      \
                                       __ATOMIC_SEQ_CST);                                     \
  }                                                                                           \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* object, T expected, T value,       \
                                               int /*order*/, int /*failure*/) {              \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true);                                                         \
    __atomic_compare_exchange_n(object, &expected, value, false, __ATOMIC_SEQ_CST,            \
                                __ATOMIC_SEQ_CST);                                            \
    return expected;                                                                          \
  }
CUDA_ON_CPU_ATOMICS(8, unsigned char)
CUDA_ON_CPU_ATOMICS(16, unsigned short)
CUDA_ON_CPU_ATOMICS(32, unsigned)
CUDA_ON_CPU_ATOMICS(64, unsigned long long)

void __tsan_atomic_thread_fence(int /*order*/) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int /*order*/) {}
}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp,
// readability-identifier-naming)

#endif

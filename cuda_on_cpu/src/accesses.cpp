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

// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp): the linker's.
extern "C" char __data_start;
extern "C" char _end;
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp)

namespace cuda_on_cpu {
namespace {

/// The ranges by the 256 KiB that an address is in: so much lies between allocations, too.
constexpr unsigned granule_bits = 18;
std::array<const MemoryRange*, 1024> known_ranges{};
std::deque<MemoryRange> ranges;
unsigned next_number = 0;
std::uint64_t known_frees = 0;

/// Pages that no allocation is on, which the runtime's own data are asked for again and again.
constexpr unsigned page_bits = 12;
std::array<std::uintptr_t, 1024> pages_elsewhere{};
std::uint64_t known_allocations = 0;

/// The program's variables outside of functions.
const MemoryRange* variables() {
  static const auto begin = reinterpret_cast<std::uintptr_t>(&__data_start);
  static const MemoryRange all{begin, reinterpret_cast<std::uintptr_t>(&_end), begin, next_number++,
                               true};
  return &all;
}

const MemoryRange* look_up(std::uintptr_t address) {
  const std::uintptr_t page = address >> page_bits;
  if (observer->allocations != known_allocations) {
    known_allocations = observer->allocations;
    pages_elsewhere.fill(0);
  }
  std::uintptr_t& elsewhere = pages_elsewhere[page % pages_elsewhere.size()];
  if (elsewhere == page) return nullptr;
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) {
    const auto is_free = [](std::uintptr_t place) { return !find_allocation(place); };
    if (is_free(page << page_bits) && is_free(((page + 1) << page_bits) - 1)) elsewhere = page;
    return nullptr;
  }
  for (const MemoryRange& range : ranges) {
    if (range.begin == found->pages) return &range;
  }
  ranges.push_back({found->pages, found->pages + found->page_bytes, found->begin, next_number++});
  return &ranges.back();
}

/// The global memory at an address; null if it is nowhere near any.
inline const MemoryRange* range_of(std::uintptr_t address) {
  if (observer->frees != known_frees) [[unlikely]] {  // others may have these addresses now
    known_frees = observer->frees;
    known_ranges.fill(nullptr);
    ranges.clear();
  }
  const MemoryRange*& known = known_ranges[(address >> granule_bits) % known_ranges.size()];
  if (known != nullptr && address - known->begin < known->end - known->begin) return known;
  if (observer->watches_variables) {
    const MemoryRange* const own = variables();
    if (address - own->begin < own->end - own->begin) return own;
  }
  const MemoryRange* const found = look_up(address);
  if (found != nullptr) known = found;
  return found;
}

/// What the compiler says about an access. In one byte, which is a constant in a register.
struct Kind {
  bool reads : 1;
  bool writes : 1;
  bool is_atomic : 1 = false;
  bool is_volatile : 1 = false;
  bool releases : 1 = false;
};
constexpr Kind read{true, false};
constexpr Kind write{false, true};

/// The stack of the fiber that was last asked for; while something is observed, one OS thread runs
/// all of them.
std::uintptr_t known_stack = 0;
std::size_t known_stack_bytes = 0;

/// Whether an address is on the stack that we are on: most accesses to local arrays are, and end
/// here.
inline bool is_on_own_stack(std::uintptr_t address) {
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return address - known_stack < known_stack_bytes && frame - known_stack < known_stack_bytes;
}

void note_elsewhere(const volatile void* pointer, unsigned bytes, Kind kind, void* called_from) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Worker* const worker = this_worker;
  if (worker == nullptr) return;
  const Fiber* const fiber = worker->running();
  if (fiber == nullptr || fiber->block == nullptr) return;
  known_stack = reinterpret_cast<std::uintptr_t>(fiber->stack);
  known_stack_bytes = fiber->stack_bytes;
  if (address - known_stack < known_stack_bytes) return;
  const MemoryRange* range = nullptr;
  if (!worker->block().arena->contains(const_cast<const void*>(pointer))) {
    range = range_of(address);
    if (range == nullptr) return;
  }
  observer->access(*fiber,
                   {address, reinterpret_cast<std::uintptr_t>(called_from) - 1, bytes, kind.reads,
                    kind.writes, kind.is_atomic, kind.is_volatile, kind.releases, range});
}

[[gnu::always_inline]] inline void note(const volatile void* pointer, unsigned bytes, Kind kind,
                                        void* called_from) {
  if (observer == nullptr || is_on_own_stack(reinterpret_cast<std::uintptr_t>(pointer))) return;
  note_elsewhere(pointer, bytes, kind, called_from);
}

constexpr bool releases(int order) {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/// A compare-and-swap that fails does not write.
template <class T>
inline void note_swap(volatile T* object, T expected, int order, void* called_from) {
  const bool writes = __atomic_load_n(object, __ATOMIC_SEQ_CST) == expected;
  note(object, sizeof(T), {true, writes, true, false, writes && releases(order)}, called_from);
}

/// Accesses to objects of other sizes, as the widest that a GPU would take.
void note_range(const void* begin, std::size_t bytes, Kind kind, void* called_from) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  std::size_t step = 16;
  while (step > 1 && (address % step != 0 || bytes % step != 0)) step /= 2;
  for (std::size_t i = 0; i < bytes; i += step) {
    note(static_cast<const char*>(begin) + i, static_cast<unsigned>(step), kind, called_from);
  }
}

template <class Bits>
bool exchange(Bits* place, Bits& before, Bits after) {
  return __atomic_compare_exchange_n(place, &before, after, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
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

// Declared in cuda_on_cpu/atomic_functions.h, for kernels.
bool exchange_unreported(std::uint16_t* place, std::uint16_t& before, std::uint16_t after);
bool exchange_unreported(std::uint32_t* place, std::uint32_t& before, std::uint32_t after);
bool exchange_unreported(std::uint64_t* place, std::uint64_t& before, std::uint64_t after);

bool exchange_unreported(std::uint16_t* place, std::uint16_t& before, std::uint16_t after) {
  return exchange(place, before, after);
}
bool exchange_unreported(std::uint32_t* place, std::uint32_t& before, std::uint32_t after) {
  return exchange(place, before, after);
}
bool exchange_unreported(std::uint64_t* place, std::uint64_t& before, std::uint64_t after) {
  return exchange(place, before, after);
}

}  // namespace cuda_on_cpu

// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp,
// readability-identifier-naming): the names are the compiler's and the linker's.
using cuda_on_cpu::Kind;
using cuda_on_cpu::note;
using cuda_on_cpu::note_range;
using cuda_on_cpu::note_swap;
using cuda_on_cpu::releases;

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}

#define CUDA_ON_CPU_ACCESS(name, bytes, ...)                              \
  void __tsan_##name(void* address) {                                     \
    note(address, bytes, Kind{__VA_ARGS__}, __builtin_return_address(0)); \
  }
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
#define CUDA_ON_CPU_NOTE_ATOMIC(T, reads, writes, order)                             \
  note(object, sizeof(T), {reads, writes, true, false, (writes) && releases(order)}, \
       __builtin_return_address(0))
#define CUDA_ON_CPU_FETCH(bits, T, name)                                           \
  T __tsan_atomic##bits##_fetch_##name(volatile T* object, T operand, int order) { \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true, true, order);                                 \
    return __atomic_fetch_##name(object, operand, __ATOMIC_SEQ_CST);               \
  }
#define CUDA_ON_CPU_ATOMICS(bits, T)                                                               \
  T __tsan_atomic##bits##_load(const volatile T* object, int order) {                              \
    CUDA_ON_CPU_NOTE_ATOMIC(T, true, false, order);                                                \
    return __atomic_load_n(object, __ATOMIC_SEQ_CST);                                              \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile T* object, T value, int order) {                       \
    CUDA_ON_CPU_NOTE_ATOMIC(T, false, true, order);                                                \
    __atomic_store_n(object, value, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                \
  T __tsan_atomic##bits##_exchange(volatile T* object, T value, int order) {                       \
    CUDA_ON_CPU_NOTE_ATOMIC(T, false, true, order);                                                \
    return __atomic_exchange_n(object, value, __ATOMIC_SEQ_CST);                                   \
  }                                                                                                \
  CUDA_ON_CPU_FETCH(bits, T, add)                                                                  \
  CUDA_ON_CPU_FETCH(bits, T, sub)                                                                  \
  CUDA_ON_CPU_FETCH(bits, T, and)                                                                  \
  CUDA_ON_CPU_FETCH(bits, T, or)                                                                   \
  CUDA_ON_CPU_FETCH(bits, T, xor)                                                                  \
  CUDA_ON_CPU_FETCH(bits, T, nand)                                                                 \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* object, T* expected, T value,      \
                                                    int order, int /*failure*/) {                  \
    note_swap(object, *expected, order, __builtin_return_address(0));                              \
    return __atomic_compare_exchange_n(object, expected, value, false, __ATOMIC_SEQ_CST,           \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* object, T* expected, T value,        \
                                                  int order, int /*failure*/) {                    \
    note_swap(object, *expected, order, __builtin_return_address(0));                              \
    return __atomic_compare_exchange_n(object, expected, value, false, __ATOMIC_SEQ_CST,           \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* object, T expected, T value, int order, \
                                               int /*failure*/) {                                  \
    note_swap(object, expected, order, __builtin_return_address(0));                               \
    __atomic_compare_exchange_n(object, &expected, value, false, __ATOMIC_SEQ_CST,                 \
                                __ATOMIC_SEQ_CST);                                                 \
    return expected;                                                                               \
  }
CUDA_ON_CPU_ATOMICS(8, unsigned char)
CUDA_ON_CPU_ATOMICS(16, unsigned short)
CUDA_ON_CPU_ATOMICS(32, unsigned)
CUDA_ON_CPU_ATOMICS(64, unsigned long long)

void __tsan_atomic_thread_fence(int /*order*/) {
  cuda_on_cpu::fence();
}
void __tsan_atomic_signal_fence(int /*order*/) {}
}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp,
// readability-identifier-naming)

#endif

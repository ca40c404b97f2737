/// @file
/// The host's memory in programs of compile.sh. What they allocate themselves, by malloc() or new, comes from one
/// region, so that it can be taken away while a kernel runs; the linker is told to call what is here (--wrap). What
/// else a launch is given, it is given an address for that leads nowhere.
#include "cuda_on_cpu/host_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include "cuda_on_cpu/diagnose.hpp"
#include "cuda_on_cpu/memory.hpp"
#include "cuda_on_cpu/settings.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp, readability-identifier-naming): the linker's
// and the C library's.
extern "C" {
extern char etext;
extern char __data_start;
extern char _end;
void __libc_free(void* pointer);
void* __libc_realloc(void* pointer, std::size_t bytes);
int __real_main(int argc, char** argv, char** environment);
}

namespace cuda_on_cpu {
namespace {

constexpr std::size_t page_bytes = 4096;

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
template <class T = void>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}
std::size_t rounded_up(std::size_t bytes, std::size_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

/// Addresses for which there is no memory until somebody uses them.
std::uintptr_t reserve(std::size_t bytes, int protection) {
  void* const pages = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? 0 : address_of(pages);
}

// ------------------------------------------------------------------------------------------------
// The heap

/// The calls that have led to an allocation.
using Trace = std::array<std::uintptr_t, 8>;
/// So many allocations know more than the function that they were called by.
constexpr std::size_t max_traces = 2000;

/// Stands before each block.
struct Header {
  const void* from;   ///< a Trace, or where the allocation returns to
  std::size_t bytes;  ///< all ones if it has been freed
};
static_assert(sizeof(Header) == 16);
constexpr std::size_t freed = ~std::size_t{0};

/// The region is divided into spans of 64 KiB: one has blocks of one size, or begins a large block.
struct Span {
  std::uint32_t first;        ///< the number of the span that the block begins in
  std::uint32_t spans;        ///< of a large block; 0 if there are small ones
  std::uint32_t block_bytes;  ///< of small ones; before a large one's header, what aligns it
};
constexpr std::size_t span_bytes = std::size_t{64} << 10;
constexpr std::size_t max_spans = std::size_t{1} << 20;
constexpr std::size_t small_bytes = span_bytes / 4;
constexpr std::size_t kept_bytes = std::size_t{64} << 20;  ///< of what is freed, so much stays for the next
constexpr std::size_t large_page_bytes = std::size_t{2} << 20;
constexpr std::size_t few_bytes = std::size_t{16} << 20;  ///< of the heap; beyond, it has large pages

class Heap {
 public:
  Heap() : begin_(reserve(span_bytes * max_spans, PROT_READ | PROT_WRITE)), end_(begin_) {
    spans_ = at<Span>(reserve(sizeof(Span) * max_spans, PROT_READ | PROT_WRITE));
    if (spans_ == nullptr) begin_ = end_ = 0;
    if (begin_ != 0) madvise(at(begin_ + few_bytes), span_bytes * max_spans - few_bytes, MADV_HUGEPAGE);
  }

  /// Null if there is no room.
  void* allocate(std::size_t bytes, std::size_t alignment, bool zero, const void* from) {
    if (begin_ == 0 || bytes > span_bytes * max_spans / 2 || alignment > page_bytes) return nullptr;
    const std::size_t needed = bytes + sizeof(Header);
    const std::lock_guard lock(mutex);
    bool is_zero = false;
    const std::uintptr_t block =
        needed <= small_bytes && alignment <= 16 ? small_block(needed) : large_block(needed, alignment, is_zero);
    if (block == 0) return nullptr;
    *at<Header>(block) = {from, bytes};
    void* const result = at(block + sizeof(Header));
    if (zero && !is_zero) std::memset(result, 0, bytes);
    return result;
  }

  bool has(std::uintptr_t address) const { return address - begin_ < end_ - begin_; }
  std::uintptr_t begin() const { return begin_; }
  std::uintptr_t end() const { return end_; }

  /// The header of the block that an address is in; null if there is none.
  Header* header_of(std::uintptr_t address) const {
    const Span& span = spans_[(address - begin_) / span_bytes];
    if (span.spans == 0 && span.block_bytes == 0) return nullptr;
    const std::uintptr_t start = begin_ + span.first * span_bytes;
    return at<Header>(span.spans > 0 ? start + span.block_bytes
                                     : start + (address - start) / span.block_bytes * span.block_bytes);
  }
  /// How long the block may become where it is.
  std::size_t room(const Header* header) const {
    const std::uintptr_t block = address_of(header);
    const Span& span = spans_[(block - begin_) / span_bytes];
    return (span.spans > 0 ? begin_ + (span.first + span.spans) * span_bytes - block : span.block_bytes) -
           sizeof(Header);
  }

  void release(Header* header) {
    const std::lock_guard lock(mutex);
    header->bytes = freed;
    const Span& span = spans_[(address_of(header) - begin_) / span_bytes];
    if (span.spans == 0) {
      auto& list = free_blocks_[class_of(span.block_bytes)];
      *reinterpret_cast<Header**>(header + 1) = list;
      list = header;
      return;
    }
    const std::size_t bytes = span.spans * span_bytes;
    const bool gives_back = bytes + kept_ > kept_bytes;
    if (gives_back) {
      madvise(at(begin_ + span.first * span_bytes), bytes, MADV_DONTNEED);
    } else {
      kept_ += bytes;
    }
    free_runs_.emplace(span.spans, Run{span.first, gives_back});
  }

  std::mutex mutex;  ///< a thread that forks holds it

 private:
  struct Run {
    std::uint32_t first;
    bool is_zero;
  };

  /// Sizes are multiples of 16 up to 128, then of an eighth of the power of two below.
  static std::size_t class_bytes(std::size_t bytes) {
    std::size_t step = 16;
    while (step * 16 < bytes) step *= 2;
    return rounded_up(std::max<std::size_t>(bytes, 32), step);
  }
  static std::size_t class_of(std::size_t bytes) {
    std::size_t step = 16;
    std::size_t number = 0;
    for (; step * 16 < bytes; step *= 2) number += 8;
    return number + bytes / step;
  }

  std::uintptr_t small_block(std::size_t needed) {
    const std::size_t bytes = class_bytes(needed);
    const std::size_t number = class_of(bytes);
    Header*& list = free_blocks_[number];
    if (list != nullptr) {
      Header* const block = list;
      list = *reinterpret_cast<Header**>(block + 1);
      return address_of(block);
    }
    Fresh& fresh = fresh_[number];
    if (fresh.end - fresh.begin < bytes) {
      const std::uintptr_t span = extend(1);
      if (span == 0) return 0;
      spans_[(span - begin_) / span_bytes] = {static_cast<std::uint32_t>((span - begin_) / span_bytes), 0,
                                              static_cast<std::uint32_t>(bytes)};
      fresh = {span, span + span_bytes};
    }
    return std::exchange(fresh.begin, fresh.begin + bytes);
  }

  std::uintptr_t large_block(std::size_t needed, std::size_t alignment, bool& is_zero) {
    const std::size_t before = alignment > sizeof(Header) ? alignment - sizeof(Header) : 0;
    const std::size_t spans = (class_bytes(needed + before) + span_bytes - 1) / span_bytes;
    const auto found = free_runs_.lower_bound(spans);
    std::uint32_t first = 0;
    std::size_t count = spans;
    if (found != free_runs_.end() && found->first <= spans + spans / 4) {
      first = found->second.first;
      is_zero = found->second.is_zero;
      count = found->first;
      if (!is_zero) kept_ -= count * span_bytes;
      free_runs_.erase(found);
    } else {
      const std::uintptr_t fresh = extend(spans);
      if (fresh == 0) return 0;
      first = static_cast<std::uint32_t>((fresh - begin_) / span_bytes);
      is_zero = true;
    }
    const Span span{first, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(before)};
    std::fill_n(spans_ + first, count, span);
    return begin_ + first * span_bytes + before;
  }

  std::uintptr_t extend(std::size_t spans) {
    if (end_ + spans * span_bytes > begin_ + max_spans * span_bytes) return 0;
    return std::exchange(end_, end_ + spans * span_bytes);
  }

  struct Fresh {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  std::uintptr_t begin_;
  std::uintptr_t end_;
  Span* spans_ = nullptr;
  std::array<Header*, 128> free_blocks_{};
  std::array<Fresh, 128> fresh_{};
  std::multimap<std::size_t, Run> free_runs_;
  std::size_t kept_ = 0;
};

/// Never destroyed: others free memory at exit.
Heap& heap() {
  static auto* const heap = [] {
    auto* const made = new Heap;
    pthread_atfork([] { cuda_on_cpu::heap().mutex.lock(); }, [] { cuda_on_cpu::heap().mutex.unlock(); },
                   [] { new (&cuda_on_cpu::heap().mutex) std::mutex; });
    return made;
  }();
  return *heap;
}

std::array<Trace, max_traces> traces;
std::atomic<std::size_t> trace_count = 0;

struct Walk {
  Trace& trace;
  std::uintptr_t from;
  std::size_t count = 0;
};

_Unwind_Reason_Code walk(_Unwind_Context* context, void* data) {
  auto& [trace, from, count] = *static_cast<Walk*>(data);
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (count == 0 && address != from) return _URC_NO_REASON;
  if (address == 0 || count == trace.size()) return _URC_END_OF_STACK;
  trace[count++] = address;
  return _URC_NO_REASON;
}

/// What to remember of an allocation that returns to an instruction.
const void* remember(const void* from) {
  if (trace_count >= max_traces) return from;
  const std::size_t number = trace_count++;
  if (number >= max_traces) return from;
  Walk calls{traces[number], address_of(from)};
  _Unwind_Backtrace(walk, &calls);
  return calls.count == 0 ? from : &traces[number];
}

/// The program's line that has led there; empty if that is not known.
std::string place_of(const void* from) {
  const auto* const trace = static_cast<const Trace*>(from);
  if (trace < traces.begin() || trace >= traces.end()) return place_of_instruction(address_of(from) - 1);
  std::string place;
  for (std::size_t i = 0; i < trace->size() && (*trace)[i] != 0 && place.empty(); ++i) {
    place = place_of_instruction((*trace)[i] - 1);
  }
  return place;
}

// ------------------------------------------------------------------------------------------------
// Taking it away

/// Where a piece of the host's memory is, and the addresses that a kernel gets instead, for which there is no memory.
struct Decoy {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uintptr_t instead;

  bool has(std::uintptr_t address) const { return address - begin < end - begin; }
  bool hides(std::uintptr_t address) const { return address - instead < end - begin; }
};

Decoy make_decoy(std::uintptr_t begin, std::uintptr_t end) {
  const std::uintptr_t instead = reserve(end - begin, PROT_NONE);
  return instead == 0 ? Decoy{0, 0, 0} : Decoy{begin, end, instead};
}

/// The stack of the calling thread.
Decoy decoy_of_stack() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {0, 0, 0};
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  return make_decoy(address_of(begin), address_of(begin) + bytes);
}

class TakenMemory final : public HostMemory {
 public:
  TakenMemory() {
    // Where addresses are small, what is copied may be numbers like them.
    const std::uintptr_t begin = address_of(&etext) / page_bytes * page_bytes;
    if (begin >> 32U != 0) variables_ = make_decoy(begin, address_of(&_end));
    if (heap().begin() != 0) blocks_ = make_decoy(heap().begin(), heap().begin() + span_bytes * max_spans);
  }

  const KernelCall* take_away(const char* kernel, const KernelCall& call) override {
    const std::size_t bytes = rounded_up(call.bytes(), 64);
    auto* const words = static_cast<std::uintptr_t*>(std::aligned_alloc(64, bytes));
    if (words == nullptr) return &call;
    // NOLINTNEXTLINE(bugprone-undefined-memory-manipulation): bits
    std::memcpy(words, static_cast<const void*>(&call), call.bytes());
    if (settings().protect) {
      if (depth_++ == 0 && is_alone() && is_worth_it(launches_[kernel]++ < 3)) {
        protection_time.measure([this] { protect(PROT_NONE); }, aftermath_);
      }
      for (std::size_t i = 1; i < call.bytes() / sizeof *words; ++i) {
        const std::uintptr_t word = words[i];
        words[i] = heap().has(word) && !is_protected_ && !find_allocation(word) ? word - blocks_.begin + blocks_.instead
                                                                                : hidden(word);
      }
    }
    return reinterpret_cast<const KernelCall*>(words);
  }

  void give_back(const KernelCall* call) override {
    std::free(const_cast<KernelCall*>(call));  // NOLINT(*-no-malloc): bits
    if (settings().protect && --depth_ == 0 && is_protected_) {
      protection_time.measure([this] { protect(PROT_READ | PROT_WRITE); });
    }
  }

  bool restore(std::uintptr_t address) override {
    if (!heap().has(address)) return false;
    protect(PROT_READ | PROT_WRITE);
    return true;
  }

  std::string describe(std::uintptr_t address) override {
    const std::string host = "which is memory of the host: ";
    if (blocks_.hides(address)) address += blocks_.begin - blocks_.instead;
    if (heap().has(address)) {
      protect(PROT_READ | PROT_WRITE);
      const Header* const header = heap().header_of(address);
      if (header == nullptr || header->bytes == freed || header->from == nullptr)
        return host + "nobody has it any more.";
      const std::string place = place_of(header->from);
      return host + "at byte " + std::to_string(address - address_of(header + 1)) + " of the " +
             counted(header->bytes, "byte") + " allocated" + (place.empty() ? "" : " in " + place) +
             "; a kernel needs memory of cudaMalloc() or cudaMallocManaged().";
    }
    if (stack_.hides(address)) {
      return host + "a local variable; a kernel needs memory of cudaMalloc(), or the value as an argument.";
    }
    if (!variables_.hides(address)) return "";
    address += variables_.begin - variables_.instead;
    const std::string name = function_at(address);
    constexpr std::string_view table = "vtable for ";
    if (name.starts_with(table)) {
      return host + "the virtual functions of '" + name.substr(table.size()) +
             "', of an object that the host constructed; construct it in a kernel.";
    }
    if (is_device_variable(address)) {
      return "which is the address that the host knows of " + name_of_device_variable(address) +
             "; name it in the kernel, or use cudaGetSymbolAddress().";
    }
    return host + (name.empty() ? "a constant" : "the variable '" + name + "'") +
           "; a kernel needs memory of cudaMalloc(), or a __device__ variable.";
  }

  bool may_be_symbol(const void* symbol, std::size_t bytes) override {
    const std::uintptr_t address = address_of(symbol);
    const auto* const text = static_cast<const char*>(symbol);
    const bool is_string = address < address_of(&__data_start) && std::memchr(text, 0, bytes) == text + bytes - 1;
    return variables_.has(address) && !is_string;
  }

  void copied(void* begin, std::size_t bytes, bool to_device) override {
    if (bytes > max_searched) return;
    const std::uintptr_t first = rounded_up(address_of(begin), sizeof(std::uintptr_t));
    const std::uintptr_t end = address_of(begin) + bytes;
    for (auto* word = at<std::uintptr_t>(first); address_of(word + 1) <= end; ++word) {
      if (*word > page_bytes) *word = to_device ? hidden(*word) : shown(*word);
    }
  }

 private:
  /// Whether the program has no threads but those of the runtime: to others, memory is not to be taken away.
  static bool is_alone() {
    struct stat tasks = {};
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3 + helping_threads;
  }

  bool is_worth_it(bool is_new) {
    const std::size_t bytes = heap().end() - heap().begin();
    if (bytes > measured_bytes_ + measured_bytes_ / 2) {
      measured_bytes_ = bytes;
      aftermath_ = aftermath(bytes);
    }
    return (is_new && aftermath_ < std::chrono::milliseconds(5)) || protection_time.is_short(aftermath_);
  }

  /// How long the first accesses to the heap's pages take after it has been taken away: very long where the machine
  /// is a virtual one and the pages are small.
  static ProtectionTime::Clock::duration aftermath(std::size_t bytes) {
    constexpr std::size_t samples = 32;
    ProtectionTime::Clock::duration sum{};
    for (std::size_t i = 0; i < samples; ++i) {
      const std::uintptr_t piece =
          rounded_up(heap().begin() + bytes / samples * i, large_page_bytes) - large_page_bytes;
      if (piece < heap().begin()) continue;
      mprotect(at(piece), large_page_bytes, PROT_NONE);
      mprotect(at(piece), large_page_bytes, PROT_READ | PROT_WRITE);
      static_cast<void>(*at<volatile char>(piece));  // of a large page, the first access is that of all others
      const auto before = ProtectionTime::Clock::now();
      static_cast<void>(*at<volatile char>(piece + large_page_bytes / 2));
      sum += ProtectionTime::Clock::now() - before;
    }
    return sum / samples * static_cast<std::int64_t>(bytes / page_bytes);
  }

  /// What a kernel gets for what may be the address of a variable or a local variable of the host.
  std::uintptr_t hidden(std::uintptr_t word) {
    thread_local const Decoy stack = decoy_of_stack();
    stack_ = stack;
    if (stack.has(word) && word > address_of(__builtin_frame_address(0)) && !find_allocation(word)) {
      return word - stack.begin + stack.instead;
    }
    const bool is_variable = variables_.has(word) && !is_managed_variable(word) && !is_asked_for(word);
    return is_variable && !find_allocation(word) ? word - variables_.begin + variables_.instead : word;
  }
  /// The reverse.
  std::uintptr_t shown(std::uintptr_t word) const {
    for (const Decoy& decoy : {stack_, variables_}) {
      if (decoy.hides(word)) return word - decoy.instead + decoy.begin;
    }
    return word;
  }

  void protect(int protection) {
    is_protected_ = protection == PROT_NONE;
    mprotect(at(heap().begin()), heap().end() - heap().begin(), protection);
    if (!is_protected_) return;
    for (const Allocation& registered : registered_memory()) {
      if (!heap().has(registered.begin)) continue;
      const std::uintptr_t first = registered.begin / page_bytes * page_bytes;
      mprotect(at(first), rounded_up(registered.end() - first, page_bytes), PROT_READ | PROT_WRITE);
    }
  }

  /// Longer copies are numbers.
  static constexpr std::size_t max_searched = std::size_t{16} << 20;
  Decoy variables_{};
  Decoy blocks_{};
  Decoy stack_{};  ///< of the thread that has launched last
  std::map<const char*, unsigned> launches_;
  std::size_t measured_bytes_ = std::size_t{64} << 20;  ///< below, it is not worth measuring
  ProtectionTime::Clock::duration aftermath_{};         ///< of a heap of that size
  unsigned depth_ = 0;
  std::atomic<bool> is_protected_ = false;
};

// ------------------------------------------------------------------------------------------------
// What the program calls

/// Memory of the heap, or else what the C library gives.
template <class Otherwise>
void* allocate(std::size_t bytes, std::size_t alignment, bool zero, const void* from, Otherwise otherwise) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER  // which knows the heap itself
  static_cast<void>(alignment);
  static_cast<void>(zero);
  static_cast<void>(from);
#else
  if (!runs_in_kernel()) {
    if (void* const found = heap().allocate(bytes, alignment, zero, remember(from))) return found;
  }
#endif
  static_cast<void>(bytes);
  return otherwise();
}

/// Ends the program because of what it frees.
[[noreturn]] void refuse_to_free(const char* how, const std::string& what, const void* from) {
  Trace trace{};
  Walk calls{trace, address_of(from)};
  _Unwind_Backtrace(walk, &calls);
  std::string place;
  for (std::size_t i = 0; i < calls.count && place.empty(); ++i) place = place_of_instruction(trace[i] - 1);
  std::fflush(nullptr);
  report((place.empty() ? "" : place + ": ") + how + " was given " + what);
  _exit(1);
}

/// Refuses memory that CUDA gave.
void check_free(const char* how, const void* pointer, const void* from) {
  if (pointer == nullptr || runs_in_kernel()) return;
  const std::uintptr_t address = address_of(pointer);
  if (is_device_variable(address) || is_managed_variable(address)) {
    refuse_to_free(how, name_of_device_variable(address) + ", which stays.", from);
  }
  const std::optional<Allocation> found = find_allocation(address);
  if (!found || found->registered) return;
  const char* const kind = found->kind == MemoryKind::device ? "device"
                           : found->kind == MemoryKind::host ? "pinned"
                                                             : "managed";
  refuse_to_free(how,
                 kind + (" memory, " + describe_address(address)) + "; use " +
                     (found->kind == MemoryKind::host ? "cudaFreeHost()." : "cudaFree()."),
                 from);
}

/// The header of a block that may be freed; null if it is none of the heap.
Header* freeable(const char* how, void* pointer, const void* from) {
#ifdef CUDA_ON_CPU_ADDRESS_SANITIZER
  check_free(how, pointer, from);
  return nullptr;
#else
  if (!heap().has(address_of(pointer))) {
    check_free(how, pointer, from);
    return nullptr;
  }
  Header* const header = heap().header_of(address_of(pointer));
  if (header == nullptr || header + 1 != pointer)
    refuse_to_free(how, "an address within memory, not its beginning.", from);
  if (header->bytes == freed || header->from == nullptr)
    refuse_to_free(how, "memory that has been freed before.", from);
  return header;
#endif
}

/// Frees a block of the heap; says whether it is one.
bool release(const char* how, void* pointer, const void* from) {
  Header* const header = freeable(how, pointer, from);
  if (header != nullptr) heap().release(header);
  return header != nullptr;
}

/// Null if it is none of the heap.
void* reallocate(void* pointer, std::size_t bytes, const void* from, bool& is_ours) {
  Header* const header = pointer == nullptr ? nullptr : freeable("realloc()", pointer, from);
  is_ours = header != nullptr;
  if (!is_ours) return nullptr;
  if (bytes <= heap().room(header)) {
    header->bytes = bytes;
    return pointer;
  }
  void* const moved = allocate(bytes, 16, false, from, [=] { return std::malloc(bytes); });
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, pointer, std::min(bytes, header->bytes));
  heap().release(header);
  return moved;
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;  // NOLINT(google-build-using-namespace)

extern "C" {
int __wrap_main(int argc, char** argv, char** environment) {
  if (std::getenv("STAGEWISE_CPU_PROTECT") == nullptr) {  // NOLINT(concurrency-mt-unsafe)
    settings().protect = settings().limits_protection = true;
  }
  // MPI reads device memory, too.
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) settings().protect = false;  // NOLINT(concurrency-mt-unsafe)
  static TakenMemory taken;
  if (settings().protect) {
    host_memory = &taken;
    watch_faults();
    const DeviceMemoryAccess ends;  // and variables are protected from now on
  }
  return __real_main(argc, argv, environment);
}

#define CUDA_ON_CPU_FROM __builtin_return_address(0)
void* __wrap_malloc(std::size_t bytes) {
  return allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [=] { return std::malloc(bytes); });
}
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  return allocate(all, 16, true, CUDA_ON_CPU_FROM, [=] { return std::calloc(count, bytes); });
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocate(bytes, alignment, false, CUDA_ON_CPU_FROM, [=] { return std::aligned_alloc(alignment, bytes); });
}
int __wrap_posix_memalign(void** pointer, std::size_t alignment, std::size_t bytes) {
  int error = 0;
  void* const found = allocate(bytes, alignment, false, CUDA_ON_CPU_FROM, [&] {
    void* given = nullptr;
    error = posix_memalign(&given, alignment, bytes);
    return given;
  });
  if (error == 0) *pointer = found;
  return error;
}
char* __wrap_strdup(const char* text) {
  const std::size_t bytes = std::strlen(text) + 1;
  void* const copy = allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [=] { return std::malloc(bytes); });
  return copy == nullptr ? nullptr : static_cast<char*>(std::memcpy(copy, text, bytes));
}
void* __wrap_realloc(void* pointer, std::size_t bytes) {
  if (pointer == nullptr) return allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [=] { return std::malloc(bytes); });
  bool is_ours = false;
  void* const moved = reallocate(pointer, bytes, CUDA_ON_CPU_FROM, is_ours);
  return is_ours ? moved : std::realloc(pointer, bytes);
}
std::size_t __wrap_malloc_usable_size(void* pointer) {
  Header* const header = pointer == nullptr ? nullptr : freeable("malloc_usable_size()", pointer, CUDA_ON_CPU_FROM);
  return header != nullptr ? heap().room(header) : malloc_usable_size(pointer);
}
void __wrap_free(void* pointer) {
  if (!release("free()", pointer, CUDA_ON_CPU_FROM)) std::free(pointer);
}

// By the names that operator new and operator delete have for the linker.
#define CUDA_ON_CPU_NEW(name, call)                                                                \
  void* __wrap_##name(std::size_t bytes) {                                                         \
    return allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [=] { return operator call(bytes); });     \
  }                                                                                                \
  void* __wrap_##name##RKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& no) {               \
    return allocate(bytes, 16, false, CUDA_ON_CPU_FROM, [&] { return operator call(bytes, no); }); \
  }                                                                                                \
  void* __wrap_##name##St11align_val_t(std::size_t bytes, std::align_val_t alignment) {            \
    return allocate(bytes, static_cast<std::size_t>(alignment), false, CUDA_ON_CPU_FROM,           \
                    [=] { return operator call(bytes, alignment); });                              \
  }
CUDA_ON_CPU_NEW(_Znwm, new)
CUDA_ON_CPU_NEW(_Znam, new[])
#define CUDA_ON_CPU_DELETE(name, call)                                                                     \
  void __wrap_##name(void* pointer) {                                                                      \
    if (!release(#call, pointer, CUDA_ON_CPU_FROM)) operator call(pointer);                                \
  }                                                                                                        \
  void __wrap_##name##m(void* pointer, std::size_t /*bytes*/) {                                            \
    if (!release(#call, pointer, CUDA_ON_CPU_FROM)) operator call(pointer);                                \
  }                                                                                                        \
  void __wrap_##name##St11align_val_t(void* pointer, std::align_val_t alignment) {                         \
    if (!release(#call, pointer, CUDA_ON_CPU_FROM)) operator call(pointer, alignment);                     \
  }                                                                                                        \
  void __wrap_##name##mSt11align_val_t(void* pointer, std::size_t /*bytes*/, std::align_val_t alignment) { \
    if (!release(#call, pointer, CUDA_ON_CPU_FROM)) operator call(pointer, alignment);                     \
  }
CUDA_ON_CPU_DELETE(_ZdlPv, delete)
CUDA_ON_CPU_DELETE(_ZdaPv, delete[])

#ifndef CUDA_ON_CPU_ADDRESS_SANITIZER
/// What libraries free may be a block of the program's.
void free(void* pointer) noexcept {
  if (pointer == nullptr) return;
  if (!heap().has(address_of(pointer))) return __libc_free(pointer);
  static_cast<void>(release("free()", pointer, CUDA_ON_CPU_FROM));
}
/// What they make longer may be, too: getline() does that.
void* realloc(void* pointer, std::size_t bytes) noexcept {
  bool is_ours = false;
  if (pointer != nullptr && heap().has(address_of(pointer)))
    return reallocate(pointer, bytes, CUDA_ON_CPU_FROM, is_ours);
  return __libc_realloc(pointer, bytes);
}
#endif
}
// NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp, readability-identifier-naming)

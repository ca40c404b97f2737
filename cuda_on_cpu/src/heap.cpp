#include "cuda_on_cpu/heap.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include <pthread.h>
#include <sys/mman.h>
#include <unwind.h>

#include "cuda_on_cpu/diagnose.hpp"

namespace cuda_on_cpu {
namespace {

constexpr std::size_t small_bytes = span_bytes / 4;
constexpr std::size_t kept_bytes = std::size_t{64} << 20;  ///< of what is freed, so much stays for the next
constexpr std::size_t few_bytes = std::size_t{16} << 20;   ///< of the heap; beyond, it has large pages

/// Sizes are multiples of 16 up to 128, then of an eighth of the power of two below.
std::size_t class_bytes(std::size_t bytes) {
  std::size_t step = 16;
  while (step * 16 < bytes) step *= 2;
  return rounded_up(std::max<std::size_t>(bytes, 32), step);
}
std::size_t class_of(std::size_t bytes) {
  std::size_t step = 16;
  std::size_t number = 0;
  for (; step * 16 < bytes; step *= 2) number += 8;
  return number + bytes / step;
}

/// So many allocations know more than the function that they were called by.
constexpr std::size_t max_traces = 2000;
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

}  // namespace

std::uintptr_t reserve(std::size_t bytes, int protection) {
  void* const pages = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? 0 : address_of(pages);
}

Heap::Heap() : begin_(reserve(span_bytes * max_spans, PROT_READ | PROT_WRITE)), end_(begin_) {
  spans_ = at<Span>(reserve(sizeof(Span) * max_spans, PROT_READ | PROT_WRITE));
  if (spans_ == nullptr) begin_ = end_ = 0;
  if (begin_ != 0) madvise(at(begin_ + few_bytes), span_bytes * max_spans - few_bytes, MADV_HUGEPAGE);
}

void* Heap::allocate(std::size_t bytes, std::size_t alignment, bool zero, const void* from) {
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

Header* Heap::header_of(std::uintptr_t address) const {
  const Span& span = spans_[(address - begin_) / span_bytes];
  if (span.spans == 0 && span.block_bytes == 0) return nullptr;
  const std::uintptr_t start = begin_ + span.first * span_bytes;
  return at<Header>(span.spans > 0 ? start + span.block_bytes
                                   : start + (address - start) / span.block_bytes * span.block_bytes);
}
std::size_t Heap::room(const Header* header) const {
  const std::uintptr_t block = address_of(header);
  const Span& span = spans_[(block - begin_) / span_bytes];
  return (span.spans > 0 ? begin_ + (span.first + span.spans) * span_bytes - block : span.block_bytes) - sizeof(Header);
}

void Heap::release(Header* header) {
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

std::uintptr_t Heap::small_block(std::size_t needed) {
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

std::uintptr_t Heap::large_block(std::size_t needed, std::size_t alignment, bool& is_zero) {
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

std::uintptr_t Heap::extend(std::size_t spans) {
  if (end_ + spans * span_bytes > begin_ + max_spans * span_bytes) return 0;
  return std::exchange(end_, end_ + spans * span_bytes);
}

Heap& heap() {
  static auto* const heap = [] {
    auto* const made = new Heap;
    pthread_atfork([] { cuda_on_cpu::heap().mutex.lock(); }, [] { cuda_on_cpu::heap().mutex.unlock(); },
                   [] { new (&cuda_on_cpu::heap().mutex) std::mutex; });
    return made;
  }();
  return *heap;
}

Trace trace_of(const void* from) {
  Trace trace{};
  Walk calls{trace, address_of(from)};
  _Unwind_Backtrace(walk, &calls);
  return trace;
}

const void* remember(const void* from) {
  if (trace_count >= max_traces) return from;
  const std::size_t number = trace_count++;
  if (number >= max_traces) return from;
  Walk calls{traces[number], address_of(from)};
  _Unwind_Backtrace(walk, &calls);
  return calls.count == 0 ? from : &traces[number];
}

std::string place_of(const void* from) {
  const auto* const trace = static_cast<const Trace*>(from);
  if (trace < traces.begin() || trace >= traces.end()) return place_of_instruction(address_of(from) - 1);
  std::string place;
  for (std::size_t i = 0; i < trace->size() && (*trace)[i] != 0 && place.empty(); ++i) {
    place = place_of_instruction((*trace)[i] - 1);
  }
  return place;
}

}  // namespace cuda_on_cpu

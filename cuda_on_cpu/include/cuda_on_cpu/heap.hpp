/// @file
/// The heap of programs of compile.sh: what they allocate themselves, by malloc() or new. It is one region, so that it
/// can be taken away while a kernel runs, and it knows where each block was allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace cuda_on_cpu {

constexpr std::size_t page_bytes = 4096;

/// As a number, to reckon with.
inline std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
/// The reverse.
template <class T = void>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}
/// To the next multiple.
inline std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// Addresses for which there is no memory until somebody uses them; 0 if there are none left.
std::uintptr_t reserve(std::size_t bytes, int protection);

/// Stands before each block.
struct Header {
  const void* from;   ///< see remember()
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

/// All of the region's blocks; any thread may call it.
class Heap {
 public:
  Heap();

  /// Null if there is no room.
  void* allocate(std::size_t bytes, std::size_t alignment, bool zero, const void* from);
  /// The block may be given to others.
  void release(Header* header);

  /// Is the address in the region, in a block or not?
  bool has(std::uintptr_t address) const { return address - begin_ < end_ - begin_; }
  std::uintptr_t begin() const { return begin_; }
  std::uintptr_t end() const { return end_; }
  /// The header of the block that an address is in; null if there is none.
  Header* header_of(std::uintptr_t address) const;
  /// How long the block may become where it is.
  std::size_t room(const Header* header) const;

  std::mutex mutex;  ///< a thread that forks holds it

 private:
  struct Run {
    std::uint32_t first;
    bool is_zero;
  };
  struct Fresh {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };

  std::uintptr_t small_block(std::size_t needed);
  std::uintptr_t large_block(std::size_t needed, std::size_t alignment, bool& is_zero);
  std::uintptr_t extend(std::size_t spans);

  std::uintptr_t begin_;
  std::uintptr_t end_;
  Span* spans_ = nullptr;
  std::array<Header*, 128> free_blocks_{};
  std::array<Fresh, 128> fresh_{};
  std::multimap<std::size_t, Run> free_runs_;
  std::size_t kept_ = 0;
};

/// Never destroyed: others free memory at exit.
Heap& heap();

/// The calls that have led to an instruction.
using Trace = std::array<std::uintptr_t, 8>;
/// Those of the running thread that have led to one which a call returns to.
Trace trace_of(const void* from);
/// What to remember of an allocation that returns to an instruction: a Trace, or the instruction.
const void* remember(const void* from);
/// The program's line that has led there; empty if that is not known.
std::string place_of(const void* remembered);

}  // namespace cuda_on_cpu

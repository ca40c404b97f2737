/// @file
/// Shadow memory: what is known about each piece of memory that kernels access. Who has accessed it
/// last is kept in cells, one for a word of 4 bytes, or for each byte where threads access parts of
/// words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "cuda_on_cpu/happens_before.hpp"

namespace cuda_on_cpu {

/// An access as it is remembered.
struct Record {
  static constexpr std::uint32_t writes = 1;
  static constexpr std::uint32_t is_atomic = 2;
  static constexpr std::uint32_t is_volatile = 4;
  static constexpr std::uint32_t is_strong = is_atomic | is_volatile;

  Time time = 0;  ///< 0 for none
  ThreadNumber thread = 0;
  std::uint32_t what = 0;  ///< the flags above, and the instruction

  bool exists() const { return time != 0; }
  /// Whether one of the flags is set.
  bool has(std::uint32_t flag) const { return (what & flag) != 0; }
};

/// What is remembered of a word or a byte. Of accesses that are ordered before a later one, that
/// later one is enough.
struct Cell {
  Record write;      ///< the last one
  Record others[2];  ///< reads since then; a write of the thread's own before its atomic one
  Time released;     ///< what atomic operations here have made known
};

/// Memory for cells, all of which is given back at once.
class CellPool {
 public:
  static constexpr std::size_t page_cells = 256;

  /// Cells that are all zero, which 0 stands for; null where the host has no memory.
  Cell* take(std::size_t pages) {
    if (used_ + pages > chunk_pages) {
      next_ += next_ < chunks_.size() ? 1 : 0;
      used_ = 0;
    }
    if (next_ >= chunks_.size()) {
      auto* const chunk = new (std::nothrow) Cell[chunk_pages * page_cells];
      if (chunk == nullptr) return nullptr;
      chunks_.emplace_back(chunk);
      next_ = chunks_.size() - 1;
    }
    Cell* const cells = chunks_[next_].get() + used_ * page_cells;
    used_ += pages;
    std::fill_n(cells, pages * page_cells, Cell{});
    return cells;
  }
  /// Forgets everything; the memory is kept.
  void reset() {
    next_ = 0;
    used_ = 0;
    ++generation;
  }

  std::uint32_t generation = 1;  ///< cells of older ones are not valid

 private:
  static constexpr std::size_t chunk_pages = 256;
  std::vector<std::unique_ptr<Cell[]>> chunks_;
  std::size_t next_ = 0;
  std::size_t used_ = 0;  ///< pages of that chunk
};

/// Frees what calloc() has given, whose pages are not there until they are touched.
struct Free {
  void operator()(void* memory) const {
    std::free(memory);  // NOLINT(*-no-malloc): see above
  }
};
template <class T>
/// Memory that is zero, and takes none until it is written.
std::unique_ptr<T[], Free> zeros(std::size_t count) {
  // NOLINTNEXTLINE(*-no-malloc): see above
  return std::unique_ptr<T[], Free>(static_cast<T*>(std::calloc(count, sizeof(T))));
}

/// The cells of a range of memory.
class CellTable {
 public:
  CellTable(std::uintptr_t begin, std::size_t bytes, CellPool& pool)
      : begin_(begin & ~std::uintptr_t{page_bytes - 1}),
        pages_(zeros<Page>((begin + bytes - begin_) / page_bytes + 2)),
        pool_(&pool) {}

  /// Calls function(cell) for what is accessed until it returns false.
  template <class Function>
  void visit(std::uintptr_t address, unsigned bytes, const Function& function) {
    if (pages_ == nullptr) return;  // the host had no memory
    std::uintptr_t offset = address - begin_;
    const std::uintptr_t end = offset + bytes;
    while (offset < end) {
      Page& page = pages_[offset / page_bytes];
      const bool needs_bytes = ((offset | end) & 3U) != 0;
      if (page.generation != pool_->generation || (needs_bytes && !page.by_bytes)) {
        if (!prepare(page, needs_bytes)) return;
      }
      const std::uintptr_t in_page = offset % page_bytes;
      if (!function(page.by_bytes ? page.cells[in_page] : page.cells[in_page / 4])) return;
      offset += page.by_bytes ? 1 : 4;
    }
  }

 private:
  static constexpr std::size_t page_bytes = CellPool::page_cells * 4;
  struct Page {
    Cell* cells;
    std::uint32_t generation;
    bool by_bytes;
  };

  bool prepare(Page& page, bool by_bytes) {
    Cell* const cells = pool_->take(by_bytes ? 4 : 1);
    if (cells == nullptr) return false;
    if (page.generation == pool_->generation) {
      for (std::size_t i = 0; i < page_bytes; ++i) cells[i] = page.cells[i / 4];
    }
    page = {cells, pool_->generation, by_bytes};
    return true;
  }

  std::uintptr_t begin_;
  std::unique_ptr<Page[], Free> pages_;
  CellPool* pool_;
};

/// Which bytes of an allocation have been written.
class WrittenBytes {
 public:
  explicit WrittenBytes(std::size_t bytes)
      : bytes_(bytes), bits_(zeros<std::uint64_t>(bytes / 64 + 1)) {}

  /// Whether any of these at most 64 bytes has been written.
  bool any(std::size_t offset, unsigned bytes) const {
    if (bits_ == nullptr) return true;
    const std::uint64_t mask = (bytes < 64 ? std::uint64_t{1} << bytes : 0) - 1;
    const std::size_t word = offset / 64;
    const auto shift = static_cast<unsigned>(offset % 64);
    if ((bits_[word] & mask << shift) != 0) return true;
    return shift + bytes > 64 && (bits_[word + 1] & mask >> (64 - shift)) != 0;
  }
  /// All bytes count as written.
  void set_all() { bits_.reset(); }
  /// These bytes have been written.
  void set(std::size_t offset, std::size_t bytes) {
    if (bytes == bytes_) set_all();
    if (bits_ == nullptr) return;
    const std::size_t end = offset + bytes;
    for (std::size_t i = offset; i < end;) {
      const auto shift = static_cast<unsigned>(i % 64);
      const std::size_t count = std::min<std::size_t>(64 - shift, end - i);
      bits_[i / 64] |= ((count < 64 ? std::uint64_t{1} << count : 0) - 1) << shift;
      i += count;
    }
  }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::uint64_t[], Free> bits_;  ///< null if all have been written
};

}  // namespace cuda_on_cpu

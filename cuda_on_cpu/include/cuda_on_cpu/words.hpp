/// @file
/// Who has accessed a word of memory, in as little memory as that takes. A mark of 4 bytes says
/// when that was, and where the rest is: nowhere if those accesses are over for everyone, in one
/// record, or in a cell. Words of which threads access parts have a cell for each byte.
///
/// Most accesses are reads of what many threads read. A mark also says for which threads further
/// ones change nothing: these need to see no more than the mark.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "cuda_on_cpu/observer.hpp"
#include "cuda_on_cpu/shadow.hpp"

namespace cuda_on_cpu {

/// What the lower bits of a mark say; the upper ones are a time. Below `of_block`, plain reads of
/// the warp of that number change nothing as long as it is that time.
enum MarkCode : std::uint8_t {
  of_block = 32,    ///< likewise, of the whole block
  of_all = 33,      ///< at any time, of all blocks; the time is that when all began
  one_record = 34,  ///< of a plain access
  plain_cell = 35,
  strong_cell = 36,  ///< with atomic or volatile accesses
  byte_cells = 37
};
inline constexpr unsigned code_bits = 6;
inline constexpr Time max_time = (Time{1} << (32 - code_bits)) - 2;

/// Puts a mark together.
constexpr WordMark mark_of(Time time, unsigned code) { return time << code_bits | code; }

/// What an access is compared with, besides the Accessor.
struct Moment {
  Time now;
  Time over;         ///< accesses before that time are over for all who share the memory
  Time over_strong;  ///< the same, if atomic accesses are among them
  bool is_plain;
  bool may_quieten;      ///< whether no thread knows more than others of its block do
  bool runs_all_blocks;  ///< at once
};

/// For whom further plain reads of a cell change nothing, after a plain one by `self`.
/// @return the mark; 0 for nobody.
inline WordMark quiet_mark(const Cell& cell, const Accessor& self, const Moment& moment) {
  const Record& first = cell.others[0];
  const Record& second = cell.others[1];
  if (!moment.may_quieten || !second.exists() || !first.exists()) return 0;
  const auto is_of_block = [&](const Record& record) {
    return (record.thread ^ self.record.thread) >> thread_bits == 0;
  };
  const bool is_first_here = is_of_block(first);
  const bool is_second_here = is_of_block(second);
  if (is_first_here && first.time != moment.now) return 0;
  if (is_second_here && second.time != moment.now) return 0;
  const bool is_written_here = is_of_block(cell.write);
  if (cell.write.exists() && cell.write.time >= (is_written_here ? self.over_in_block : self.over)) return 0;
  const unsigned kept = distance(first, second);
  if (kept == 3 && !is_first_here && !is_second_here && !moment.runs_all_blocks && cell.write.time < self.over) {
    return mark_of(self.over, of_all);
  }
  if (kept >= 2) return mark_of(moment.now, of_block);
  if (kept == 0) return 0;
  return mark_of(moment.now, (self.record.thread & (max_threads - 1)) / 32);
}

/// The words of a range of memory.
class Words {
 public:
  Words(std::uintptr_t begin, std::size_t bytes)
      : begin_(begin & ~std::uintptr_t{3}),
        count_((begin + bytes - begin_) / 4 + 1),
        marks_(zeros<WordMark>(count_ + 4)),
        records_(zeros<Record>(count_)),
        pages_(zeros<Page>(count_ / page_words + 1)) {}
  ~Words() {
    if (pages_ == nullptr) return;
    for (std::size_t i = 0; i <= count_ / page_words; ++i) {
      delete[] pages_[i].cells;
      delete[] pages_[i].byte_cells;
    }
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  /// Accesses that begin in this memory of so many bytes.
  Window window(std::uintptr_t begin, std::size_t bytes) const {
    if (marks_ == nullptr) return {};
    return {begin, bytes, reinterpret_cast<std::uintptr_t>(marks_.get()) - begin_};
  }

  /// Forgets all accesses.
  void clear() {
    if (marks_ != nullptr) std::fill_n(marks_.get(), count_, WordMark{0});
  }

  /// Remembers an access. Calls function(cell) where that takes more than one record, until it
  /// returns false.
  template <class Function>
  void visit(std::uintptr_t address, unsigned bytes, const Accessor& self, const Moment& moment,
             const Function& function) {
    if (marks_ == nullptr || records_ == nullptr || pages_ == nullptr) return;  // no memory
    std::uintptr_t offset = address - begin_;
    const std::uintptr_t end = offset + bytes;
    while (offset < end) {
      const std::size_t word = offset / 4;
      const std::uintptr_t next = std::min<std::uintptr_t>((word + 1) * 4, end);
      const unsigned code = code_of(marks_[word], moment);
      if (next - offset < 4 || code == byte_cells) {
        if (!visit_bytes(word, code, offset, next, moment, function)) return;
      } else if (!visit_word(word, code, self, moment, function)) {
        return;
      }
      offset = next;
    }
  }

  /// Calls function(record) for each access that is remembered of these bytes.
  template <class Function>
  void look(std::uintptr_t address, std::size_t bytes, const Function& function) const {
    if (marks_ == nullptr || records_ == nullptr || pages_ == nullptr) return;
    for (std::uintptr_t offset = address - begin_; offset < address - begin_ + bytes; ++offset) {
      const std::size_t word = offset / 4;
      const unsigned code = marks_[word] & ((1U << code_bits) - 1);
      if (marks_[word] == 0) continue;
      const Page& page = pages_[word / page_words];
      if (code == one_record) {
        function(records_[word]);
      } else {
        const Cell& cell =
            code == byte_cells ? page.byte_cells[word % page_words * 4 + offset % 4] : page.cells[word % page_words];
        for (const Record& record : {cell.write, cell.others[0], cell.others[1]}) function(record);
      }
      if (code != byte_cells) offset |= 3U;
    }
  }

 private:
  static constexpr std::size_t page_words = 256;
  static constexpr unsigned nothing = 63;  ///< a code: of accesses that are over
  struct Page {
    Cell* cells;
    Cell* byte_cells;
  };

  static unsigned code_of(WordMark mark, const Moment& moment) {
    const Time time = mark >> code_bits;
    const unsigned code = mark & ((1U << code_bits) - 1);
    if (time >= moment.over) return code;
    const bool may_matter = code == strong_cell || code == byte_cells;
    return may_matter && time >= moment.over_strong ? code : nothing;
  }

  template <class Function>
  bool visit_word(std::size_t word, unsigned code, const Accessor& self, const Moment& moment,
                  const Function& function) {
    WordMark& mark = marks_[word];
    if (moment.is_plain && (code == nothing || code == one_record)) {
      if (code == nothing || replaces(records_[word], self)) {
        records_[word] = self.record;
        mark = mark_of(moment.now, one_record);
        return true;
      }
    }
    Cell* const cell = cell_of(word, code);
    if (cell == nullptr) return true;
    const bool is_strong = !moment.is_plain || code == strong_cell;
    mark = mark_of(moment.now, is_strong ? strong_cell : plain_cell);
    if (!function(*cell)) return false;
    if (is_strong || self.record.has(Record::writes)) return true;
    const WordMark quiet = quiet_mark(*cell, self, moment);
    if (quiet != 0) mark = quiet;
    return true;
  }

  /// Whether a plain access makes the only one that is remembered superfluous.
  static bool replaces(const Record& before, const Accessor& self) {
    if (!self.is_after(before)) return false;
    return self.record.has(Record::writes) || !before.has(Record::writes);
  }

  Cell* cell_of(std::size_t word, unsigned code) {
    Cell*& cells = pages_[word / page_words].cells;
    if (cells == nullptr) cells = new (std::nothrow) Cell[page_words];
    if (cells == nullptr) return nullptr;
    Cell& cell = cells[word % page_words];
    if (code == nothing || code == one_record) cell = {};
    if (code == one_record) add_first(cell, records_[word]);
    return &cell;
  }
  static void add_first(Cell& cell, const Record& record) {
    (record.has(Record::writes) ? cell.write : cell.others[0]) = record;
  }

  template <class Function>
  bool visit_bytes(std::size_t word, unsigned code, std::uintptr_t offset, std::uintptr_t end, const Moment& moment,
                   const Function& function) {
    Cell*& all = pages_[word / page_words].byte_cells;
    if (all == nullptr) all = new (std::nothrow) Cell[page_words * 4];
    if (all == nullptr) return true;
    Cell* const cells = all + word % page_words * 4;
    if (code != byte_cells) {
      const Cell* const known = cell_of(word, code);
      if (known == nullptr) return true;
      std::fill_n(cells, 4, *known);
    }
    marks_[word] = mark_of(moment.now, byte_cells);
    for (; offset < end; ++offset) {
      if (!function(cells[offset % 4])) return false;
    }
    return true;
  }

  std::uintptr_t begin_;
  std::size_t count_;
  std::unique_ptr<WordMark[], Free> marks_;
  std::unique_ptr<Record[], Free> records_;  ///< of words that have one
  std::unique_ptr<Page[], Free> pages_;
};

}  // namespace cuda_on_cpu

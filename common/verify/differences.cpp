#include "verify/differences.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "tensor/counts.hpp"
#include "verify/compare.hpp"

namespace stagewise {
namespace {

/// A range of row or column numbers.
struct Range {
  Index first;
  Index last;

  Index length() const { return last - first + 1; }
};

/// From the first element equal to `mark` to the last; there is at least one.
Range range_of(const std::vector<bool>& marks, bool mark = true) {
  const auto first = std::find(marks.begin(), marks.end(), mark);
  const auto last = std::find(marks.rbegin(), marks.rend(), mark);
  return {first - marks.begin(), last.base() - marks.begin() - 1};
}

/// "row 5", "columns 48 and 49", "elements 3 to 7".
std::string named(const std::string& noun, const Range& range) {
  const std::string last = std::to_string(range.last);
  if (range.length() == 1) return noun + " " + last;
  return noun + "s " + std::to_string(range.first) + (range.length() == 2 ? " and " : " to ") + last;
}

/// One dimension of the result, with its marked rows or columns.
struct Side {
  std::string noun;  ///< what is counted along it
  const std::vector<bool>& marks;
  Index tile;

  Index size() const { return std::ssize(marks); }

  /// "columns 48 to 52 (the last, incomplete tile of 16)"; empty if that is all.
  std::string range() const {
    const Range range = range_of(marks);
    if (range.length() == size()) return "";
    return named(noun, range) + as_tile(range);
  }

  /// "column 3", counted in each tile; empty if that is all of a tile, or there is only one.
  std::string range_in_tiles() const {
    if (tile == 0 || size() <= tile) return "";
    std::vector<bool> in_tile(static_cast<std::size_t>(tile));
    for (Index i = 0; i < size(); ++i) {
      if (marks[static_cast<std::size_t>(i)]) in_tile[static_cast<std::size_t>(i % tile)] = true;
    }
    const Range range = range_of(in_tile);
    return range.length() == tile ? "" : named(noun, range);
  }

  /// "7 of 20 columns"; empty if all are marked.
  std::string share() const {
    const Index count = std::count(marks.begin(), marks.end(), true);
    return count == size() ? "" : with_thousands(count) + " of " + count_of(size(), noun);
  }

 private:
  std::string as_tile(const Range& range) const {
    if (tile == 0 || range.first % tile != 0) return "";
    const std::string of = "tile of " + std::to_string(tile) + ")";
    const bool incomplete = range.last == size() - 1 && range.length() == size() % tile;
    if (incomplete) return " (the last, incomplete " + of;
    return range.length() == tile ? " (a " + of : "";
  }
};

/// Those of the two that are not empty: "rows 0 to 3 and column 7".
std::string joined(const std::string& rows, const std::string& columns) {
  return rows + (rows.empty() || columns.empty() ? "" : " and ") + columns;
}

}  // namespace

Differences::Differences(const ResultLayout& layout)
    : layout_(layout),
      rows_(static_cast<std::size_t>(layout.rows)),
      columns_(static_cast<std::size_t>(layout.columns)),
      in_tile_(static_cast<std::size_t>(layout.tile * layout.tile)) {}

void Differences::add(Index place, double found, double expected) {
  ++count_;
  const Index row = place / layout_.columns;
  const Index column = place % layout_.columns;
  const Index tile = layout_.tile;
  rows_[static_cast<std::size_t>(row)] = true;
  columns_[static_cast<std::size_t>(column)] = true;
  if (tile > 0) in_tile_[static_cast<std::size_t>(row % tile * tile + column % tile)] = true;
  const double distance = std::isfinite(found) ? std::abs(found - expected) : std::numeric_limits<double>::infinity();
  if (count_ > 1 && distance <= distance_) return;
  worst_ = place;
  distance_ = distance;
  found_ = found;
  expected_ = expected;
}

/// "never at [3, 3] of a tile of 4": the one place that is right in every tile; empty if there is
/// none such, or more.
std::string Differences::never_wrong() const {
  const Index tile = layout_.tile;
  if (std::min(layout_.rows, layout_.columns) < tile) return "";
  if (std::count(in_tile_.begin(), in_tile_.end(), false) != 1) return "";
  return "never at " + place_of(range_of(in_tile_, false).first, {tile, tile}) + " of a tile of " +
         std::to_string(tile);
}

std::string Differences::pattern() const {
  const bool vector = layout_.rows == 1;
  const Side rows{"row", rows_, layout_.tile};
  const Side columns{vector ? "element" : "column", columns_, layout_.tile};
  std::string places = joined(rows.range(), columns.range());
  if (!places.empty()) return "all in " + places;
  places = joined(rows.range_in_tiles(), columns.range_in_tiles());
  if (!places.empty()) {
    return "all in " + places + " of their tiles of " + std::to_string(layout_.tile);
  }
  if (const std::string never = never_wrong(); !never.empty()) return "scattered, but " + never;
  places = vector ? "" : joined(rows.share(), columns.share());
  return places.empty() ? "scattered" : "scattered over " + places;
}

std::string Differences::describe() const {
  if (count_ == 0) return "";
  std::array<char, 80> values{};
  std::snprintf(values.data(), values.size(), "is %.9g instead of %.9g", found_, expected_);
  const Index all = layout_.rows * layout_.columns;
  if (all == 1) return std::string("it ") + values.data();

  const std::string elements = count_ == all ? "all " + with_thousands(all) + " elements"
                                             : with_thousands(count_) + " of " + count_of(all, "element") +
                                                   (count_ == 1 ? "" : ", " + pattern());
  const Shape shape = layout_.rows == 1 ? Shape{layout_.columns} : Shape{layout_.rows, layout_.columns};
  const std::string place = place_of(worst_, shape);
  if (count_ == 1) return elements + ": " + place + " " + values.data();
  return elements + "; the worst, " + place + ", " + values.data();
}

}  // namespace stagewise

/// @file
/// How many elements of a result are wrong, and where: the pattern often tells what the kernel does
/// wrong.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace stagewise {

/// How a result is laid out: row-major; a vector has one row.
struct ResultLayout {
  Index rows = 1;
  Index columns = 1;
  Index tile = 0;  ///< side of the square that a block computes; 0: none or unknown
};

/// Collects wrong elements. Needs memory for rows and columns, but not for elements.
class Differences {
 public:
  explicit Differences(const ResultLayout& layout);

  /// Adds a wrong element, the one at `place`.
  void add(Index place, double found, double expected);

  /// "12 of 60 elements, all in columns 8 and 9 (the last, incomplete tile of 4); the worst,
  /// [2, 8], is 0.25 instead of 0.5". Empty where none is wrong.
  std::string describe() const;

 private:
  std::string pattern() const;
  std::string never_wrong() const;

  ResultLayout layout_;
  std::vector<bool> rows_;     ///< whether anything in the row is wrong
  std::vector<bool> columns_;  ///< likewise
  std::vector<bool> in_tile_;  ///< likewise for the places of a tile, row by row
  Index count_ = 0;
  Index worst_ = 0;  ///< place of the first that is not finite, otherwise of the farthest off
  double distance_ = 0;
  double found_ = 0;
  double expected_ = 0;
};

/// Whether a number is the expected one, up to `bound`. NaN never is.
inline bool is_near(double found, double expected, double bound) { return std::abs(found - expected) <= bound; }

/// What Differences reports on `found`, compared with as many elements of `expected`.
/// @param is_right whether the first of two doubles is acceptable for the second.
template <typename Found, typename Expected, typename IsRight>
std::string describe_differences(std::span<const Found> found, std::span<const Expected> expected,
                                 const ResultLayout& layout, const IsRight& is_right) {
  Differences differences(layout);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto value = static_cast<double>(found[i]);
    const auto wanted = static_cast<double>(expected[i]);
    if (!is_right(value, wanted)) differences.add(static_cast<Index>(i), value, wanted);
  }
  return differences.describe();
}

}  // namespace stagewise

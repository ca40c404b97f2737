/// @file
/// Are computed numbers those that were expected, up to rounding?
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "tensor/shape.hpp"

namespace stagewise {

/// How far numbers lie from those that were expected.
struct ValueDifference {
  double relative = 0;  ///< Euclidean norm of the difference over that of what was expected
  Index place = 0;      ///< of the worst: the first one that is not finite, else the farthest off
  double worst = 0;     ///< |found - expected| there
  double found = 0;
  double expected = 0;
  bool finite = true;  ///< whether all numbers found are finite

  /// Whether all are finite and none is farther off than `bound`. A NaN never passes.
  bool within(double bound) const { return finite && worst <= bound; }
};

/// Compares as many numbers as `found` has; `expected` must have no fewer.
template <typename Found, typename Expected>
ValueDifference compare_values(std::span<const Found> found, std::span<const Expected> expected) {
  ValueDifference result;
  double squares = 0;
  double expected_squares = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto value = static_cast<double>(found[i]);
    const auto wanted = static_cast<double>(expected[i]);
    const double difference = std::abs(value - wanted);
    squares += difference * difference;
    expected_squares += wanted * wanted;
    const bool finite = std::isfinite(value);
    if (result.finite && (!finite || difference > result.worst || i == 0)) {
      result.place = static_cast<Index>(i);
      result.worst = difference;
      result.found = value;
      result.expected = wanted;
    }
    result.finite = result.finite && finite;
  }
  // Two zeros do not differ, and nothing is infinitely far from zero.
  result.relative = squares == 0 ? 0 : std::sqrt(squares / expected_squares);
  return result;
}

}  // namespace stagewise

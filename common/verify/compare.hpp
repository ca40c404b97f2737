/// @file
/// Are two sets of parameters the same, up to rounding?
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.hpp"

namespace stagewise {

/// The difference between two versions of one parameter. Relative differences are norms of the
/// difference divided by the larger of the two norms; two zeros differ by 0.
struct Difference {
  std::string name;
  double max_norm = 0;  ///< max |a - b| / max(max |a|, max |b|)
  double l2_norm = 0;   ///< the same with Euclidean norms
  Index worst = 0;      ///< where |a - b| is largest, or the first value that is not finite
  double a = 0;         ///< the two values there
  double b = 0;
  bool finite = true;  ///< whether all values of both are finite

  /// Whether all values are finite and the max norm is at most `bound`. A NaN never passes.
  bool within(double bound) const { return finite && max_norm <= bound; }
};

/// Compares parameter by parameter, in the order of `a`.
/// @param name_a, name_b what an error message calls the two: their files, for example.
/// @throws Error if names or shapes differ.
std::vector<Difference> compare_parameters(const std::vector<ParameterValues>& a, const std::vector<ParameterValues>& b,
                                           const std::string& name_a = "the first set",
                                           const std::string& name_b = "the second set");

/// The largest max norm; NaN if any value is not finite.
double largest_difference(const std::vector<Difference>& differences);

/// The position of an element in a tensor: "[3, 14]".
std::string place_of(Index element, const Shape& shape);

}  // namespace stagewise

/// @file
/// Numbers as people read them.
#pragma once

#include <string>

#include "tensor/counts.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

/// `value` with `digits` digits after the point.
std::string fixed(double value, int digits);

/// A duration with three significant digits and its unit: "12.3 ms".
std::string duration(double seconds);

/// A number a second with three significant digits: "8,123", "55.6 k", "1.23 M".
std::string rate(double value);

/// The fewest decimal digits that name exactly this double: "0.1".
std::string shortest(double value);

/// "28x28x1".
std::string by_times(const Shape& shape);

}  // namespace stagewise

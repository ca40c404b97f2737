/// @file
/// Numbers and tables as people read them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tensor/counts.hpp"
#include "tensor/shape.hpp"

namespace stagewise {

/// `value` with `digits` digits after the point.
std::string fixed(double value, int digits);

/// A loss with six digits after the point: "0.693147"; one of millions and more "1.304e+58".
std::string loss_text(double loss);

/// A duration with three significant digits and its unit: "12.3 ms".
std::string duration(double seconds);

/// A number a second with three significant digits: "8,123", "55.6 k", "1.23 M".
std::string rate(double value);

/// An amount with three significant digits and the prefix of its unit: "30.0 TFLOP/s", "8.86 MB".
std::string with_prefix(double value, const std::string& unit);

/// A small number with two significant digits: "1.2e-07", "0".
std::string scientific(double value);

/// The text at the end of at least `width` columns.
std::string right(const std::string& text, std::size_t width);

/// The text at the beginning of at least `width` columns.
std::string left(const std::string& text, std::size_t width);

/// Of a text longer than `width`, what fits, and an ellipsis.
std::string cut(const std::string& text, std::size_t width);

/// A column of a table; its cells are aligned to the right unless `is_left`.
struct Column {
  std::string heading;
  std::size_t width;
  bool is_left = false;
};

/// A line of a table, without blanks at its end.
std::string row_of(const std::vector<Column>& columns, const std::vector<std::string>& cells);

/// The line above a table.
std::string heading_of(const std::vector<Column>& columns);

/// A line of a CSV file, with its line break. Cells with commas, quotes or line breaks are put in
/// quotes, as in RFC 4180.
std::string csv_line(const std::vector<std::string>& cells);

/// "28x28x1".
std::string by_times(const Shape& shape);

}  // namespace stagewise

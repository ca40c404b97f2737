#include "cli/text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace stagewise {

namespace {

std::string printed(const char* format, int digits, double value) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), format, digits, value);
  return text.data();
}

/// With three significant digits, of a number up to 999.
std::string in_three_digits(double value) { return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0); }

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string fixed(double value, int digits) { return printed("%.*f", digits, value); }

std::string loss_text(double loss) {
  constexpr double readable = 1e6;
  return printed(loss < readable ? "%.*f" : "%.*e", loss < readable ? 6 : 3, loss);
}

std::string duration(double seconds) {
  if (seconds >= 0.9995) return in_three_digits(seconds) + " s";
  if (seconds >= 0.9995e-3) return in_three_digits(seconds * 1e3) + " ms";
  return in_three_digits(seconds * 1e6) + " us";
}

std::string rate(double value) { return value < 9999.5 ? with_thousands(std::llround(value)) : with_prefix(value, ""); }

std::string with_prefix(double value, const std::string& unit) {
  constexpr std::array prefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < prefixes.size()) {
    value /= 1e3;
    ++prefix;
  }
  const bool whole = prefix == 0 && value == std::floor(value);
  const std::string number = whole ? fixed(value, 0) : in_three_digits(value);
  const std::string full_unit = prefixes.at(prefix) + unit;
  return full_unit.empty() ? number : number + " " + full_unit;
}

std::string scientific(double value) { return value == 0 ? "0" : printed("%.*e", 1, value); }

std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string left(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

std::string cut(const std::string& text, std::size_t width) {
  return text.size() > width ? text.substr(0, width - 3) + "..." : text;
}

std::string row_of(const std::vector<Column>& columns, const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    line += columns[i].is_left ? left(cells[i], columns[i].width) : right(cells[i], columns[i].width);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

std::string heading_of(const std::vector<Column>& columns) {
  std::vector<std::string> cells;
  for (const Column& column : columns) cells.push_back(column.heading);
  return row_of(columns, cells);
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + csv_cell(cells[i]);
  return line + '\n';
}

std::string by_times(const Shape& shape) {
  std::vector<std::string> lengths;
  for (int i = 0; i < shape.rank(); ++i) lengths.push_back(std::to_string(shape[i]));
  return list_of(lengths, "x");
}

}  // namespace stagewise

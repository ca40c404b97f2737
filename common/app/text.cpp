#include "app/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace stagewise {

std::string fixed(double value, int digits) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string loss_text(double loss) {
  constexpr double readable = 1e6;
  if (loss < readable) return fixed(loss, 6);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3e", loss);
  return text.data();
}

std::string duration(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr std::array units = {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}};
  Unit unit = units.back();
  for (const Unit& candidate : units) {
    if (seconds >= 0.9995 * candidate.seconds) {
      unit = candidate;
      break;
    }
  }
  const double value = seconds / unit.seconds;
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fixed(value, digits) + " " + unit.name;
}

std::string rate(double value) {
  if (value < 9999.5) return with_thousands(std::llround(value));
  const bool millions = value >= 999.5e3;
  value /= millions ? 1e6 : 1e3;
  return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + (millions ? " M" : " k");
}

std::string with_prefix(double value, const std::string& unit) {
  constexpr std::array prefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < prefixes.size()) {
    value /= 1e3;
    ++prefix;
  }
  const bool whole = prefix == 0 && value == std::floor(value);
  const int digits = whole ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fixed(value, digits) + " " + prefixes.at(prefix) + unit;
}

std::string scientific(double value) {
  if (value == 0) return "0";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1e", value);
  return text.data();
}

std::string shortest(double value) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string by_times(const Shape& shape) {
  std::string text;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += 'x';
    text += std::to_string(shape[i]);
  }
  return text;
}

}  // namespace stagewise

#include "tensor/quote.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace stagewise {
namespace {

unsigned byte_at(std::string_view text, std::size_t place) {
  return place < text.size() ? static_cast<unsigned char>(text[place]) : 0;
}

/// How many bytes the text's first character has; 0 if it is not UTF-8.
std::size_t first_character(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  std::size_t bytes = 0;
  if (lead >= 0xc2 && lead <= 0xdf) bytes = 2;
  if (lead >= 0xe0 && lead <= 0xef) bytes = 3;
  if (lead >= 0xf0 && lead <= 0xf4) bytes = 4;
  // What the second byte may be excludes the forms that are too long, too large or surrogates.
  unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte_at(text, i) < least || byte_at(text, i) > most) return 0;
    least = 0x80;
    most = 0xbf;
  }
  return bytes;
}

/// Whether a character, which is UTF-8, is shown as it is. U+0080 to U+009F are control characters.
bool is_plain(std::string_view character) {
  const unsigned lead = byte_at(character, 0);
  if (character.size() == 1) return lead >= ' ' && lead != 0x7f;
  return lead != 0xc2 || byte_at(character, 1) >= 0xa0;
}

std::string escape(char c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  constexpr std::array digits = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  const auto byte = static_cast<unsigned char>(c);
  return std::string("\\x") + digits.at(byte / 16) + digits.at(byte % 16);
}

/// The fewest slips that make one text the other (Damerau 1964), no letter being touched twice.
std::size_t slips_between(const std::string& a, const std::string& b) {
  // slips[i][j]: between the first i letters of one and the first j of the other.
  std::vector<std::vector<std::size_t>> slips(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        slips[i][j] = i + j;
        continue;
      }
      const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      slips[i][j] = std::min({slips[i - 1][j] + 1, slips[i][j - 1] + 1, slips[i - 1][j - 1] + wrong});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        slips[i][j] = std::min(slips[i][j], slips[i - 2][j - 2] + 1);
      }
    }
  }
  return slips[a.size()][b.size()];
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string excerpt(std::string_view text, std::size_t longest) {
  std::string result;
  for (std::size_t shown = 0; !text.empty(); ++shown) {
    if (shown == longest) return result + "...";
    const std::size_t bytes = first_character(text);
    const std::string_view character = text.substr(0, bytes == 0 ? 1 : bytes);
    if (bytes > 0 && is_plain(character)) {
      result += character;
    } else {
      for (const char c : character) result += escape(c);
    }
    text.remove_prefix(character.size());
  }
  return result;
}

std::string escaped(std::string_view text) { return excerpt(text, std::numeric_limits<std::size_t>::max()); }

std::string in_quotes(std::string_view text, std::size_t longest) { return "'" + excerpt(text, longest) + "'"; }

std::string suggestion(const std::string& text, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;
  if (text.size() > longest) return "";
  std::string best;
  std::size_t fewest = text.size() > 8 ? 3 : 2;  // one more than are forgiven
  for (const std::string& name : names) {
    const std::size_t slips = slips_between(text, name);
    if (slips >= fewest || slips >= name.size()) continue;
    fewest = slips;
    best = name;
  }
  return best;
}

std::string did_you_mean(const std::string& text, const std::vector<std::string>& names) {
  const std::string name = suggestion(text, names);
  return name.empty() ? "" : "; did you mean " + name + "?";
}

}  // namespace stagewise

#include "tensor/quote.hpp"

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
  constexpr std::array digits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                 '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  const auto byte = static_cast<unsigned char>(c);
  return std::string("\\x") + digits.at(byte / 16) + digits.at(byte % 16);
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

std::string escaped(std::string_view text) {
  return excerpt(text, std::numeric_limits<std::size_t>::max());
}

std::string in_quotes(std::string_view text, std::size_t longest) {
  return "'" + excerpt(text, longest) + "'";
}

}  // namespace stagewise

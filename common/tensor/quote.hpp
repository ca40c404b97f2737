/// @file
/// Quoting text from a user or a file: short, and harmless to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stagewise {

/// Whether the text is UTF-8 (RFC 3629): no stray byte, no overlong form, no surrogate.
bool is_utf8(std::string_view text);

/// The text with everything written out that a terminal could take for a command or cannot show,
/// as "\n" or "\x1b": control characters, and bytes that are not UTF-8.
std::string escaped(std::string_view text);

/// The same; of a text longer than `longest` characters, only those and an ellipsis.
std::string excerpt(std::string_view text, std::size_t longest = 40);

/// An excerpt in quotes: "'3.5x'".
std::string in_quotes(std::string_view text, std::size_t longest = 40);

}  // namespace stagewise

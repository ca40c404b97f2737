/// @file
/// Quoting text from a user or a file, short and harmless to a terminal, and guessing what was
/// meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

/// The name closest to the text, if the text may be a typo: a letter missing, added, wrong or
/// swapped with its neighbour, or two of these in a long name.
/// @return empty if there is none.
std::string suggestion(const std::string& text, const std::vector<std::string>& names);

/// The same as the end of a sentence: "; did you mean mnist?", or empty.
std::string did_you_mean(const std::string& text, const std::vector<std::string>& names);

}  // namespace stagewise

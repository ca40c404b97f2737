/// @file
/// Cuts the text of a .cu file into tokens.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_on_cpu {

/// A text that cannot be translated. The sentence begins with the file and the line.
class TranslationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a piece of text is.
enum class TokenKind {
  space,         ///< blanks, a comment, or line breaks; also escaped ones
  word,          ///< an identifier or a keyword
  number,        ///< as the preprocessor sees it: 1'000, 0x1p-3, 12abc
  literal,       ///< a string or a character
  symbol,        ///< one character, or one of "->" and "::"
  directive,     ///< a whole line of the preprocessor, but for \#define
  define,        ///< "#define NAME" or "#define NAME(PARAMETERS)"; tokens of the body follow
  end_of_define  ///< no text: here the body of a macro ends
};

/// A piece of the text.
struct Token {
  TokenKind kind;
  std::string_view text;
  std::size_t line;            ///< where it begins, counted from 1
  std::string_view file = {};  ///< where it comes from, in a preprocessed text; else empty

  /// Is it this word or symbol? A string is neither.
  bool is(std::string_view wanted) const {
    return (kind == TokenKind::word || kind == TokenKind::symbol) && text == wanted;
  }
};

/// Cuts a text into tokens, which joined give the text again.
/// @param text must outlive the tokens.
/// @param file its name, for sentences.
/// @param preprocessed whether the text is what a preprocessor has made. Then the lines in it that
/// say which file and line follow are spaces, and what comes from the system's headers is one
/// directive.
/// @throws TranslationError where a comment or a raw string never ends.
std::vector<Token> scan(std::string_view text, const std::string& file, bool preprocessed = false);

}  // namespace cuda_on_cpu

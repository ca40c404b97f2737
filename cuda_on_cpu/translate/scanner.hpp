/// @file
/// Cuts the text of a .cu file into tokens.
#pragma once

#include <cstddef>
#include <initializer_list>
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
  std::string_view file = {};  ///< where it comes from

  /// Is it this word or symbol? A string is neither.
  bool is(std::string_view wanted) const {
    return (kind == TokenKind::word || kind == TokenKind::symbol) && text == wanted;
  }
};

/// @throws TranslationError: the token's file and line, and what is wrong there.
[[noreturn]] void refuse(const Token& token, const std::string& what);

/// Tokens from first up to, but without, end.
struct Range {
  std::size_t first;
  std::size_t end;
};

/// No token.
inline constexpr std::size_t none = static_cast<std::size_t>(-1);

/// The tokens of a file, by their places, and walks among them.
class Tokens : public std::vector<Token> {
 public:
  using std::vector<Token>::vector;

  /// Is there a token, and is it this word or symbol?
  bool is(std::size_t place, std::string_view wanted) const;
  /// Is it one of these?
  bool is_any(std::size_t place, std::initializer_list<std::string_view> wanted) const;
  /// Is it an identifier or a keyword?
  bool is_word(std::size_t place) const;
  /// Is it a bracket that opens?
  bool opens(std::size_t place) const { return is_any(place, {"(", "[", "{"}); }
  /// Is it one that closes?
  bool closes(std::size_t place) const { return is_any(place, {")", "]", "}"}); }
  /// The beginning or the end of a macro's body, which no declaration reaches across.
  bool is_border(std::size_t place) const;
  /// Is one of the tokens in a range this one?
  bool contains(Range range, std::string_view wanted) const;

  /// The token behind this one that is no space; none at a border or the end.
  std::size_t next(std::size_t place) const;
  /// The one before; none at a border, a directive or the beginning.
  std::size_t previous(std::size_t place) const;
  /// The bracket that closes the one here; the end of the file if none does.
  std::size_t close_of(std::size_t open) const;
};

/// Cuts a text into tokens, which joined give the text again.
/// @param text,file must outlive the tokens; the name is for sentences.
/// @param preprocessed whether the text is what a preprocessor has made. Then the lines in it that
/// say which file and line follow are spaces, and what comes from the system's headers is one
/// directive.
/// @throws TranslationError where a comment or a raw string never ends.
Tokens scan(std::string_view text, const std::string& file, bool preprocessed = false);

}  // namespace cuda_on_cpu

#include "scanner.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace cuda_on_cpu {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file, bool preprocessed)
      : text_(text), file_(file), preprocessed_(preprocessed) {
    if (!preprocessed) from_ = file;
  }

  Tokens scan() {
    while (at_ < text_.size()) next();
    end_define();
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  bool comes(std::string_view wanted) const { return text_.substr(at_).starts_with(wanted); }

  /// The length of a line break behind a backslash, which joins two lines; 0 if there is none.
  std::size_t joint() const { return comes("\\\n") ? 2 : comes("\\\r\n") ? 3 : 0; }

  void add(TokenKind kind, std::size_t begin) {
    const std::string_view text = text_.substr(begin, at_ - begin);
    tokens_.push_back({kind, text, line_, from_});
    line_ += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  void end_define() {
    if (in_define_) add(TokenKind::end_of_define, at_);
    in_define_ = false;
  }

  void next() {
    const std::size_t begin = at_;
    if (peek() == '\n') {
      end_define();
      ++at_;
      add(TokenKind::space, begin);
      line_is_empty_ = true;
    } else if (skip_space()) {
      add(TokenKind::space, begin);
    } else if (line_is_empty_ && peek() == '#' && preprocessed_ && marker_at(at_).is_marker) {
      follow_marker();
    } else if (line_is_empty_ && peek() == '#') {
      directive();
    } else {
      line_is_empty_ = false;
      add(code(), begin);
    }
  }

  /// Skips blanks, joined lines and comments; false if nothing of the kind comes.
  bool skip_space() {
    const std::size_t begin = at_;
    for (;;) {
      if (joint() > 0) {
        at_ += joint();
      } else if (comes("//")) {
        while (at_ < text_.size() && peek() != '\n') at_ += std::max(joint(), std::size_t{1});
      } else if (comes("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail(begin, "the comment that begins here never ends");
        at_ = end + 2;
      } else if (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\v' || peek() == '\f') {
        ++at_;
      } else {
        return at_ > begin;
      }
    }
  }

  void skip_word() {
    while (is_word(peek())) ++at_;
  }

  /// A #define up to its body; any other directive to the end of its line.
  void directive() {
    const std::size_t begin = at_++;
    skip_space();
    const std::size_t name = at_;
    skip_word();
    if (text_.substr(name, at_ - name) == "define") {
      skip_space();
      skip_word();
      if (peek() == '(') at_ = std::min(text_.find(')', at_), text_.size() - 1) + 1;
      add(TokenKind::define, begin);
      in_define_ = true;
      line_is_empty_ = false;
      return;
    }
    // Quotes mean nothing here: #error may hold an apostrophe.
    while (at_ < text_.size() && peek() != '\n') {
      if (!skip_space()) ++at_;
    }
    add(TokenKind::directive, begin);
  }

  /// `# 12 "file.cu" 1 3`: what follows is line 12 of file.cu. A 3 stands for a header of the
  /// system.
  struct Marker {
    bool is_marker = false;
    std::size_t line = 0;
    std::string_view file;
    bool is_system = false;
  };

  Marker marker_at(std::size_t place) const {
    Marker marker;
    const std::string_view line = text_.substr(place, text_.find('\n', place) - place);
    if (line.size() < 3 || line[1] != ' ' || !is_digit(line[2])) return marker;
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (open == close) return marker;
    marker.is_marker = true;
    for (std::size_t i = 2; is_digit(line[i]); ++i) {
      marker.line = 10 * marker.line + static_cast<std::size_t>(line[i] - '0');
    }
    marker.file = line.substr(open + 1, close - open - 1);
    marker.is_system = line.find('3', close) != std::string_view::npos;
    return marker;
  }

  /// A macro of a header, as NULL, is marked as the system's although it stands in one's own file.
  bool is_own(const Marker& marker) const {
    return !marker.file.starts_with('<') && (!marker.is_system || own_files_.contains(marker.file));
  }

  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1; }

  void follow_marker() {
    const std::size_t begin = at_;
    Marker marker = marker_at(at_);
    skip_line();
    if (is_own(marker)) {
      own_files_.insert(marker.file);
      add(TokenKind::space, begin);
      line_ = marker.line;
      from_ = marker.file;
      return;
    }
    while (at_ < text_.size()) {
      if (peek() == '#' && (marker = marker_at(at_)).is_marker && is_own(marker)) break;
      skip_line();
    }
    add(TokenKind::directive, begin);
  }

  TokenKind code() {
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) {
      number();
      return TokenKind::number;
    }
    if (is_word(peek())) return word();
    if (peek() == '"' || peek() == '\'') {
      in_quotes();
      return TokenKind::literal;
    }
    at_ += comes("->") || comes("::") ? 2 : 1;
    return TokenKind::symbol;
  }

  void number() {
    for (;;) {
      const bool has_exponent = peek() == 'e' || peek() == 'E' || peek() == 'p' || peek() == 'P';
      if ((has_exponent && (peek(1) == '+' || peek(1) == '-')) || (peek() == '\'' && is_word(peek(1)))) {
        at_ += 2;
      } else if (is_word(peek()) || peek() == '.') {
        ++at_;
      } else {
        return;
      }
    }
  }

  /// A word, or the literal that it is a prefix of.
  TokenKind word() {
    constexpr std::array<std::string_view, 4> prefixes = {"u8", "u", "U", "L"};
    const std::size_t begin = at_;
    skip_word();
    std::string_view text = text_.substr(begin, at_ - begin);
    if (peek() != '"' && peek() != '\'') return TokenKind::word;
    const bool is_raw = peek() == '"' && text.ends_with('R');
    if (is_raw) text.remove_suffix(1);
    if (!(is_raw && text.empty()) && std::find(prefixes.begin(), prefixes.end(), text) == prefixes.end()) {
      return TokenKind::word;
    }
    if (is_raw) {
      raw_string();
    } else {
      in_quotes();
    }
    return TokenKind::literal;
  }

  /// A quote that is not closed ends with its line: it stands in a text that #if leaves out, or the
  /// compiler will say more about it.
  void in_quotes() {
    const char quote = text_[at_++];
    while (at_ < text_.size() && peek() != '\n') {
      if (joint() > 0) {
        at_ += joint();
      } else if (peek() == '\\' && peek(1) != '\n') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (text_[at_++] == quote) {
        return;
      }
    }
  }

  void raw_string() {
    const std::size_t begin = at_;
    const std::size_t open = text_.find('(', at_);
    std::size_t end = std::string_view::npos;
    if (open != std::string_view::npos) {
      const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
      end = text_.find(close, open);
      at_ = end + close.size();
    }
    if (end == std::string_view::npos) fail(begin, "the raw string that begins here never ends");
  }

  [[noreturn]] void fail(std::size_t place, const std::string& what) const {
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    throw TranslationError(file_ + ":" + std::to_string(lines + 1) + ": " + what);
  }

  std::string_view text_;
  const std::string& file_;
  Tokens tokens_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool line_is_empty_ = true;  ///< nothing but blanks so far, so that # begins a directive
  bool in_define_ = false;
  bool preprocessed_;
  std::string_view from_;                 ///< the file that the text comes from now
  std::set<std::string_view> own_files_;  ///< those that are no headers of the system
};

}  // namespace

void refuse(const Token& token, const std::string& what) {
  throw TranslationError(std::string(token.file) + ":" + std::to_string(token.line) + ": " + what);
}

bool Tokens::is(std::size_t place, std::string_view wanted) const { return place < size() && at(place).is(wanted); }

bool Tokens::is_any(std::size_t place, std::initializer_list<std::string_view> wanted) const {
  return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view word) { return is(place, word); });
}

bool Tokens::is_word(std::size_t place) const { return place < size() && at(place).kind == TokenKind::word; }

bool Tokens::is_border(std::size_t place) const {
  return place < size() && (at(place).kind == TokenKind::define || at(place).kind == TokenKind::end_of_define);
}

bool Tokens::contains(Range range, std::string_view wanted) const {
  for (std::size_t i = range.first; i < range.end; ++i) {
    if (is(i, wanted)) return true;
  }
  return false;
}

std::size_t Tokens::next(std::size_t place) const {
  if (place == none) return none;
  while (++place < size()) {
    if (is_border(place)) return none;
    if (at(place).kind != TokenKind::space) return place;
  }
  return none;
}

std::size_t Tokens::previous(std::size_t place) const {
  while (place-- > 0) {
    if (is_border(place) || at(place).kind == TokenKind::directive) return none;
    if (at(place).kind != TokenKind::space) return place;
  }
  return none;
}

std::size_t Tokens::close_of(std::size_t open) const {
  std::size_t depth = 0;
  for (std::size_t i = open; i < size() && !is_border(i); ++i) {
    if (opens(i)) ++depth;
    if (closes(i) && --depth == 0) return i;
  }
  return size();
}

Tokens scan(std::string_view text, const std::string& file, bool preprocessed) {
  return Scanner(text, file, preprocessed).scan();
}

}  // namespace cuda_on_cpu

#include "io/data_sets/csv_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "tensor/quote.hpp"

namespace stagewise {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// The text up to the end of its first line, which is not in quotes.
std::string_view first_line(std::string_view text) {
  bool is_quoted = false;
  std::size_t length = 0;
  for (; length < text.size() && (is_quoted || text[length] != '\n'); ++length)
    is_quoted = is_quoted != (text[length] == '"');
  return text.substr(0, length);
}

/// How often cells of a line are separated by this character, or by any number of blanks if it is ' '.
std::size_t separators(std::string_view line, char separator) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  bool is_quoted = false;
  std::size_t count = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    is_quoted = is_quoted != (line[i] == '"');
    if (is_quoted) continue;
    const bool begins_word = i > 0 && !is_blank(line[i]) && is_blank(line[i - 1]);
    if (separator == ' ' ? begins_word : line[i] == separator) ++count;
  }
  return count;
}

/// What a line such as "sep=;" says that separates cells; 0 for any other.
char announced_separator(std::string_view line) {
  const std::size_t begin = line.starts_with('"') ? 1 : 0;
  const std::string_view word = line.substr(begin, 4);
  const bool is_one = (word == "sep=" || word == "SEP=" || word == "Sep=") && line.size() > begin + 4;
  const char separator = is_one ? line[begin + 4] : '\0';
  return separator != '\0' && std::string_view(",;\t|").find(separator) != std::string_view::npos ? separator : '\0';
}

constexpr const char* how_to_write_numbers =
    "numbers have a point before their decimals, and nothing between their thousands";

/// Whether the text would be a number without what separates thousands in some countries, or decimals.
bool is_written_otherwise(std::string text) {
  for (const std::string_view part : {",", "'", "_", " ", "\xc2\xa0", "\xe2\x80\xaf"}) {
    for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part)) text.erase(i, part.size());
  }
  double value = 0;
  return parse_number(text, value) || (std::erase(text, '.') > 1 && parse_number(text, value));
}

}  // namespace

bool parse_number(std::string_view text, double& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value);
}

CsvReader::CsvReader(const std::filesystem::path& path) : file_(path) {
  file_.skip(byte_order_mark);
  find_separator();
}

void CsvReader::find_separator() {
  std::string_view text = file_.preview();
  std::string_view header = first_line(text);
  if (const char announced = announced_separator(header); announced != '\0') {
    separator_ = announced;
    while (file_.peek() != end && get() != '\n') {
    }
    return;
  }
  const std::string_view row = first_line(text.substr(std::min(text.size(), header.size() + 1)));
  std::size_t best = 0;
  for (const char candidate : {',', ';', '\t', '|'}) {
    const std::size_t count = separators(header, candidate);
    // Names may have one of these characters within them: the line below them tells.
    const std::size_t score = count > 0 && count == separators(row, candidate) ? count + text.size() : count;
    if (score > best) separator_ = candidate;
    best = std::max(best, score);
  }
  // A single column, without any separator, is of no use: its name may have blanks if the line below it has none.
  if (best == 0 && separators(header, ' ') > 0 && separators(header, ' ') == separators(row, ' ')) separator_ = ' ';
}

bool CsvReader::next(std::vector<CsvCell>& row) {
  if (file_.peek() == end) return false;
  row_line_ = line_;
  std::size_t cells = 0;
  int after = 0;
  do {
    if (row.size() == cells) row.emplace_back();
    after = read_cell(row[cells], cells + 1);
    ++cells;
  } while (after == separator_);
  row.resize(cells);
  return true;
}

double CsvReader::number_in(const CsvCell& cell, const std::string& column) {
  double value = 0;
  const std::size_t mark = separator_ == ';' ? cell.text.find_first_of(",.") : std::string::npos;
  if (mark != std::string::npos ? parse_number(std::string(cell.text).replace(mark, 1, "."), value)
                                : parse_number(cell.text, value)) {
    if (mark != std::string::npos) expect_same_mark(cell, column, cell.text[mark] == ',');
    return value;
  }
  throw failure(cell.line, column,
                in_quotes(cell.text) + " is not a finite number" +
                    (is_written_otherwise(cell.text) ? std::string("; ") + how_to_write_numbers : ""));
}

void CsvReader::expect_same_mark(const CsvCell& cell, const std::string& column, bool is_comma) {
  std::string& first = is_comma ? decimal_comma_ : decimal_point_;
  const std::string& other = is_comma ? decimal_point_ : decimal_comma_;
  if (first.empty()) first = cell.text;
  if (other.empty()) return;
  throw failure(cell.line, column,
                in_quotes(cell.text) + " stands in one file with " + in_quotes(other) + "; " + how_to_write_numbers);
}

Error CsvReader::failure(std::size_t line, const std::string& what) const {
  return Error(file_.path().string() + ", line " + std::to_string(line) + ": " + what);
}

Error CsvReader::failure(std::size_t line, const std::string& column, const std::string& what) const {
  return Error(file_.path().string() + ", line " + std::to_string(line) + ", column " + excerpt(column) + ": " + what);
}

int CsvReader::get() {
  const int c = file_.get();
  if (c == '\n') ++line_;
  return c;
}

bool CsvReader::is_blank(int c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }

void CsvReader::skip_blanks() {
  while (is_blank(file_.peek())) get();
}

void CsvReader::trim_end(std::string& text) const {
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.pop_back();
}

bool CsvReader::ends_cell(int c) const {
  return c == separator_ || c == '\n' || c == end || (separator_ == ' ' && is_blank(c));
}

int CsvReader::pass(int c) {
  if (separator_ != ' ' || !is_blank(c)) return c;
  skip_blanks();
  if (file_.peek() == '\r') get();
  return file_.peek() == '\n' || file_.peek() == end ? get() : separator_;
}

int CsvReader::read_cell(CsvCell& cell, std::size_t number) {
  cell.text.clear();
  cell.line = line_;
  skip_blanks();
  if (file_.peek() == '"') return read_quoted(cell, number);
  for (;;) {
    const int c = get();
    if (ends_cell(c)) {
      trim_end(cell.text);  // also of the CR before an LF
      return pass(c);
    }
    cell.text += static_cast<char>(c);
  }
}

int CsvReader::read_quoted(CsvCell& cell, std::size_t number) {
  get();
  for (;;) {
    const int c = get();
    if (c == end) {
      throw failure(cell.line, std::to_string(number), "the quote that begins this cell is never closed");
    }
    if (c == '"') {
      if (file_.peek() != '"') break;
      get();
    }
    cell.text += static_cast<char>(c);
  }
  if (separator_ != ' ') skip_blanks();
  if (file_.peek() == '\r') get();
  const int after = get();
  if (!ends_cell(after)) {
    throw failure(cell.line, std::to_string(number), "something follows the quote that ends this cell");
  }
  return pass(after);
}

}  // namespace stagewise

#include "io/data_sets/csv_reader.hpp"

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "tensor/quote.hpp"

namespace stagewise {
namespace {

void trim_end(std::string& text) {
  while (text.ends_with(' ') || text.ends_with('\t') || text.ends_with('\r')) text.pop_back();
}

}  // namespace

bool parse_number(std::string_view text, double& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value);
}

CsvReader::CsvReader(const std::filesystem::path& path) : file_(path) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  file_.skip(byte_order_mark);
}

bool CsvReader::next(std::vector<CsvCell>& row) {
  if (file_.peek() == end) return false;
  row_line_ = line_;
  std::size_t cells = 0;
  int separator = ',';
  while (separator == ',') {
    if (row.size() == cells) row.emplace_back();
    separator = read_cell(row[cells], cells + 1);
    ++cells;
  }
  row.resize(cells);
  return true;
}

double CsvReader::number_in(const CsvCell& cell, const std::string& column) const {
  double value = 0;
  if (parse_number(cell.text, value)) return value;
  throw failure(cell.line, column, in_quotes(cell.text) + " is not a finite number");
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

void CsvReader::skip_blanks() {
  while (file_.peek() == ' ' || file_.peek() == '\t') get();
}

int CsvReader::read_cell(CsvCell& cell, std::size_t number) {
  cell.text.clear();
  cell.line = line_;
  skip_blanks();
  if (file_.peek() == '"') return read_quoted(cell, number);
  for (;;) {
    const int c = get();
    if (c == ',' || c == '\n' || c == end) {
      trim_end(cell.text);  // also of the CR before an LF
      return c;
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
  skip_blanks();
  if (file_.peek() == '\r') get();
  const int separator = get();
  if (separator != ',' && separator != '\n' && separator != end) {
    throw failure(cell.line, std::to_string(number), "something follows the quote that ends this cell");
  }
  return separator;
}

}  // namespace stagewise

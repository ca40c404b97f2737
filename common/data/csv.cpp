#include "data/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "data/input_file.hpp"
#include "io/file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

// ---------------------------------------------------------------------------------- text and cells

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + excerpt(names[i]);
  }
  return names.size() > most ? text + ", ... (" + with_thousands(std::ssize(names)) + " in all)"
                             : text;
}

/// Names go into checkpoints, as texts, and must come back as they were.
constexpr std::string_view must_be_utf8 =
    "the name is not UTF-8; convert the file, for example with iconv -f LATIN1 -t UTF-8";

struct Cell {
  std::string text;
  std::size_t line = 0;  ///< where it begins, counted from 1
};

/// Cuts the text of a file into rows of cells.
class CsvReader {
 public:
  explicit CsvReader(const fs::path& path) : file_(path) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    fill();
    const auto same = [](char mark, std::uint8_t byte) {
      return static_cast<std::uint8_t>(mark) == byte;
    };
    if (block_.size() >= byte_order_mark.size() &&
        std::equal(byte_order_mark.begin(), byte_order_mark.end(), block_.begin(), same)) {
      used_ = byte_order_mark.size();
    }
  }

  /// Reads the next row; false at the end of the file. The row's memory is used again.
  bool next(std::vector<Cell>& row) {
    if (peek() == end) return false;
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

  /// The line on which the row that was read last begins.
  std::size_t row_line() const { return row_line_; }

  Error failure(std::size_t line, const std::string& what) const {
    return Error(file_.path().string() + ", line " + std::to_string(line) + ": " + what);
  }

  /// @param column its name, or its number where it has no name.
  Error failure(std::size_t line, const std::string& column, const std::string& what) const {
    return Error(file_.path().string() + ", line " + std::to_string(line) + ", column " +
                 excerpt(column) + ": " + what);
  }

  const fs::path& path() const { return file_.path(); }

 private:
  static constexpr int end = -1;

  void fill() {
    constexpr std::size_t block_bytes = std::size_t{1} << 18;
    block_ = file_.read(block_bytes);
    used_ = 0;
  }

  int peek() {
    if (used_ == block_.size()) fill();
    return block_.empty() ? end : block_[used_];
  }

  int get() {
    const int c = peek();
    if (c != end) ++used_;
    if (c == '\n') ++line_;
    return c;
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') get();
  }

  static void trim_end(std::string& text) {
    while (text.ends_with(' ') || text.ends_with('\t') || text.ends_with('\r')) text.pop_back();
  }

  /// Reads a cell and what ends it.
  /// @param number of the cell in its row, counted from 1.
  /// @return ',', '\n' or end.
  int read_cell(Cell& cell, std::size_t number) {
    cell.text.clear();
    cell.line = line_;
    skip_blanks();
    if (peek() == '"') return read_quoted(cell, number);
    for (;;) {
      const int c = get();
      if (c == ',' || c == '\n' || c == end) {
        trim_end(cell.text);  // also of the CR before an LF
        return c;
      }
      cell.text += static_cast<char>(c);
    }
  }

  int read_quoted(Cell& cell, std::size_t number) {
    get();
    for (;;) {
      const int c = get();
      if (c == end) {
        throw failure(cell.line, std::to_string(number),
                      "the quote that begins this cell is never closed");
      }
      if (c == '"') {
        if (peek() != '"') break;
        get();
      }
      cell.text += static_cast<char>(c);
    }
    skip_blanks();
    if (peek() == '\r') get();
    const int separator = get();
    if (separator != ',' && separator != '\n' && separator != end) {
      throw failure(cell.line, std::to_string(number),
                    "something follows the quote that ends this cell");
    }
    return separator;
  }

  InputFile file_;
  std::vector<std::uint8_t> block_;
  std::size_t used_ = 0;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
};

// ------------------------------------------------------------------------------------------
// numbers

enum class NumberKind { finite, not_finite, out_of_range, no_number };

NumberKind parse(std::string_view text, double& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) return NumberKind::no_number;
  if (error == std::errc::result_out_of_range) return NumberKind::out_of_range;
  return std::isfinite(value) ? NumberKind::finite : NumberKind::not_finite;
}

double number_in(const Cell& cell, const std::string& column, const CsvReader& reader) {
  double value = 0;
  switch (parse(cell.text, value)) {
    case NumberKind::finite:
      return value;
    case NumberKind::not_finite:
      throw reader.failure(cell.line, column, in_quotes(cell.text) + " is not a finite number");
    case NumberKind::out_of_range:
      throw reader.failure(cell.line, column,
                           in_quotes(cell.text) + " is too large or too small for a double");
    case NumberKind::no_number:
      break;
  }
  throw reader.failure(cell.line, column, in_quotes(cell.text) + " is not a number");
}

/// The fewest digits that read back as the same double.
std::string written(double value) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

// ------------------------------------------------------------------------------------------
// reading

std::vector<std::string> read_header(CsvReader& reader) {
  std::vector<Cell> row;
  if (!reader.next(row) || (row.size() == 1 && row[0].text.empty())) {
    throw reader.failure(1, "the names of the columns were expected, but the line is empty");
  }
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const Cell& cell : row) {
    const std::string number = std::to_string(names.size() + 1);
    if (cell.text.empty()) throw reader.failure(cell.line, number, "the column has no name");
    if (!is_utf8(cell.text)) throw reader.failure(cell.line, number, std::string(must_be_utf8));
    if (!seen.insert(cell.text).second) {
      throw reader.failure(
          cell.line, number,
          "the name " + in_quotes(cell.text) + " has been given to a column before");
    }
    names.push_back(cell.text);
  }
  return names;
}

std::size_t find_label(const std::vector<std::string>& columns, const std::string& label,
                       const fs::path& path) {
  if (label.empty()) {
    throw UsageError("--label must name the column of " + path.string() +
                     " that holds the class; the columns are " + list(columns));
  }
  const auto found = std::find(columns.begin(), columns.end(), label);
  if (found == columns.end()) {
    throw UsageError("--label " + excerpt(label) + " is not a column of " + path.string() +
                     ", whose columns are " + list(columns));
  }
  return static_cast<std::size_t>(found - columns.begin());
}

/// Texts of the label column, numbered as they come.
class Labels {
 public:
  void add(const std::string& text) {
    const auto [place, is_new] = numbers_.emplace(text, static_cast<std::int32_t>(numbers_.size()));
    if (is_new) texts_.push_back(&place->first);
    rows_.push_back(place->second);
  }

  /// The classes in ascending order; rows() then counts in that order.
  std::vector<std::string> sort() {
    std::vector<double> values(texts_.size());
    bool all_numbers = true;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      all_numbers = all_numbers && parse(*texts_[i], values[i]) == NumberKind::finite;
    }
    std::vector<std::size_t> order(texts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return all_numbers ? values[a] < values[b] : *texts_[a] < *texts_[b];
    });

    std::vector<std::string> classes;
    std::vector<std::int32_t> class_of(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool same = i > 0 && all_numbers && values[order[i]] == values[order[i - 1]];
      if (!same) classes.push_back(*texts_[order[i]]);
      class_of[order[i]] = static_cast<std::int32_t>(classes.size() - 1);
    }
    for (std::int32_t& row : rows_) row = class_of[static_cast<std::size_t>(row)];
    return classes;
  }

  std::vector<std::int32_t> take_rows() { return std::move(rows_); }

 private:
  std::map<std::string, std::int32_t> numbers_;
  std::vector<const std::string*> texts_;
  std::vector<std::int32_t> rows_;
};

/// The number of each class in the order that a network was trained with.
std::vector<std::int32_t> renumber(std::vector<std::int32_t> labels,
                                   const std::vector<std::string>& classes,
                                   const std::vector<std::string>& known, const fs::path& path,
                                   const std::string& column) {
  // As where the classes were numbered: "1.0" is "1" only where all classes are numbers.
  double value = 0;
  const bool all_numbers = std::all_of(known.begin(), known.end(), [&](const std::string& name) {
    return parse(name, value) == NumberKind::finite;
  });
  std::vector<std::int32_t> numbers;
  for (const std::string& name : classes) {
    const bool by_value = all_numbers && parse(name, value) == NumberKind::finite;
    const auto found = std::find_if(known.begin(), known.end(), [&](const std::string& other) {
      double other_value = 0;
      return by_value ? parse(other, other_value) == NumberKind::finite && other_value == value
                      : other == name;
    });
    if (found == known.end()) {
      throw Error("the column " + excerpt(column) + " of " + path.string() + " holds " +
                  in_quotes(name) + ", but the network was trained on the classes " + list(known));
    }
    numbers.push_back(static_cast<std::int32_t>(found - known.begin()));
  }
  for (std::int32_t& label : labels) label = numbers[static_cast<std::size_t>(label)];
  return labels;
}

}  // namespace

Table read_csv(const fs::path& path, const std::string& label, const TableEncoding* known) {
  CsvReader reader(path);
  const std::vector<std::string> columns = read_header(reader);
  const std::size_t label_column = find_label(columns, label, path);
  TableEncoding encoding;
  encoding.features = columns;
  encoding.features.erase(encoding.features.begin() + static_cast<std::ptrdiff_t>(label_column));
  if (encoding.features.empty()) {
    throw Error(path.string() + " has no column but " + excerpt(label) +
                ": there is nothing to learn from");
  }
  if (known != nullptr && known->features != encoding.features) {
    throw Error(path.string() + " has the feature columns " + list(encoding.features) +
                ", but the network was trained on " + list(known->features));
  }

  std::vector<double> features;
  Labels labels;
  std::vector<Cell> row;
  std::size_t rows = 0;
  std::size_t empty_line = 0;
  while (reader.next(row)) {
    if (row.size() == 1 && row[0].text.empty()) {
      if (empty_line == 0) empty_line = reader.row_line();
      continue;
    }
    if (empty_line != 0) throw reader.failure(empty_line, "the line is empty, but rows follow it");
    if (row.size() != columns.size()) {
      throw reader.failure(reader.row_line(),
                           "the number of cells is " + with_thousands(std::ssize(row)) +
                               ", but the header names " + count_of(std::ssize(columns), "column"));
    }
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j].text.empty()) {
        throw reader.failure(row[j].line, columns[j], "the cell is empty");
      }
      if (j == label_column) {
        if (!is_utf8(row[j].text)) {
          throw reader.failure(row[j].line, columns[j], std::string(must_be_utf8));
        }
        labels.add(row[j].text);
      } else {
        features.push_back(number_in(row[j], columns[j], reader));
      }
    }
    ++rows;
  }
  if (rows == 0) throw Error(path.string() + " has a header, but not one row below it");

  encoding.classes = labels.sort();
  std::vector<std::int32_t> numbers = labels.take_rows();
  if (known != nullptr) {
    numbers = renumber(std::move(numbers), encoding.classes, known->classes, path, label);
    encoding = *known;
  } else if (encoding.classes.size() < 2) {
    throw Error("the column " + excerpt(label) + " of " + path.string() +
                " holds one class only, " + in_quotes(encoding.classes.front()) +
                ": there is nothing to tell apart");
  }
  const Shape sample{static_cast<Index>(encoding.features.size())};
  const int classes = static_cast<int>(encoding.classes.size());
  return {Dataset(sample, classes, std::move(features), std::move(numbers)), std::move(encoding)};
}

void write_csv(const Dataset& dataset, const fs::path& path) {
  const auto features = static_cast<std::size_t>(dataset.sample_shape().elements());
  std::string text;
  for (std::size_t j = 0; j < features; ++j) text += "x" + std::to_string(j + 1) + ",";
  text += "label\n";
  for (std::size_t i = 0; i < dataset.labels().size(); ++i) {
    for (std::size_t j = 0; j < features; ++j) {
      const std::size_t at = i * features + j;
      text += dataset.pixels() != nullptr ? std::to_string((*dataset.pixels())[at])
                                          : written((*dataset.values())[at]);
      text += ',';
    }
    text += std::to_string(dataset.labels()[i]) + "\n";
  }
  write_file(path, std::as_bytes(std::span(text)), "table");
}

}  // namespace stagewise

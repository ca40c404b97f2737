/// @file
/// The text of a CSV file as rows of cells.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/data_sets/input_file.hpp"
#include "tensor/error.hpp"

namespace stagewise {

/// Reads all of the text as a number.
/// @return whether it is a finite one that a double can hold; `value` then is it.
bool parse_number(std::string_view text, double& value);

/// A cell, without the quotes and blanks around it.
struct CsvCell {
  std::string text;
  std::size_t line = 0;  ///< where it begins, counted from 1
};

/// Splits the text of a file into rows of cells. What separates them, its first lines say: a line "sep=;", as Excel
/// writes it, or else what the header has as often as the line below it.
class CsvReader {
 public:
  /// @throws Error as InputFile does.
  explicit CsvReader(const std::filesystem::path& path);

  /// A comma, a semicolon, a tab, a bar, or a blank for any number of blanks.
  char separator() const { return separator_; }

  /// Of those that number_in() has read, the first that has a comma before its decimals; empty if none has.
  const std::string& decimal_comma() const { return decimal_comma_; }

  /// Reads the next row, reusing its memory; false at the end of the file.
  /// @throws Error for a quote that is never closed, or followed by something.
  bool next(std::vector<CsvCell>& row);

  /// The line on which the latest row begins.
  std::size_t row_line() const { return row_line_; }

  /// The number in a cell. Between semicolons, a comma may precede its decimals; then no point may in other cells.
  /// @param column for the error if it is not a number, or not finite.
  double number_in(const CsvCell& cell, const std::string& column);

  /// The error to throw for a fault in a line.
  Error failure(std::size_t line, const std::string& what) const;

  /// The error to throw for a fault in a cell.
  /// @param column its name, or its number where it has no name.
  Error failure(std::size_t line, const std::string& column, const std::string& what) const;

 private:
  static constexpr int end = InputFile::end;

  int get();
  bool is_blank(int c) const;
  void skip_blanks();
  void trim_end(std::string& text) const;
  void find_separator();
  void expect_same_mark(const CsvCell& cell, const std::string& column, bool is_comma);

  /// Whether a character separates cells or ends them all.
  bool ends_cell(int c) const;

  /// Of blanks that separate cells, all are one separator, and those behind the last cell none.
  /// @param c the character that ends a cell.
  int pass(int c);

  /// Reads a cell and the character that ends it.
  /// @param number of the cell in its row, counted from 1.
  /// @return the separator, '\n' or end.
  int read_cell(CsvCell& cell, std::size_t number);
  int read_quoted(CsvCell& cell, std::size_t number);

  InputFile file_;
  char separator_ = ',';
  std::string decimal_comma_;
  std::string decimal_point_;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
};

}  // namespace stagewise

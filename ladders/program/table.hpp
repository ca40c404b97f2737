/// @file
/// The results of a ladder on a terminal, within 80 columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "ladders/program/results.hpp"

namespace stagewise::ladder {

/// A line above the tables.
struct Line {
  std::string label;  ///< at most six letters
  std::string text;
};

/// Prints what the program runs on, and the lines: the problem, how it is verified, and its best
/// possible speed.
void print_header(std::ostream& out, const std::string& device, bool cuda_on_cpu, const std::vector<Line>& lines);

/// What is measured: nothing, times, times that say something about a GPU, or what the kernels ask
/// of memory.
enum class Measured : std::uint8_t { nothing, times, rates, counters };

/// Prints a table row by row, as the rows are done.
class TablePrinter {
 public:
  /// Prints the headings, with room for all rows that the table has.
  /// @param table must outlive this; its reference has been run.
  TablePrinter(std::ostream& out, const Table& table, Measured measured);

  /// Prints a row that was run or skipped.
  void print(const Row& row);

 private:
  struct Column {
    std::string heading;
    std::size_t width;  ///< of the heading and of all cells
    std::function<std::string(const Row&)> cell;
    bool left = false;  ///< whether cells are left-aligned
  };

  void add_figures(const Table& table, Measured measured);
  void add_column(const std::string& heading, std::size_t widest_cell,
                  const std::function<std::string(const Row&)>& cell);
  void add_counters();
  void print_line(const std::function<std::string(const Column&)>& cell_of);

  std::ostream& out_;
  std::vector<Column> columns_;
  std::string group_;  ///< of the row before
};

/// Prints how many rows are verified.
void print_verdict(std::ostream& out, const std::vector<Table>& tables);

}  // namespace stagewise::ladder

#include "ladders/program/table.hpp"

#include <algorithm>

#include "cli/program.hpp"
#include "cli/text.hpp"

namespace stagewise::ladder {
namespace {

constexpr std::size_t page = 80;
constexpr std::size_t gap = 2;  ///< between columns

/// `text`, with all lines after the first indented.
std::string indented(const std::string& text, std::size_t indent) {
  std::string result;
  for (const char c : wrapped(text, page - indent)) {
    result += c;
    if (c == '\n') result.append(indent, ' ');
  }
  return result;
}

std::string name_of(const Row& row) { return row.name + (row.picked ? " *" : ""); }

std::size_t width_of(const std::string& heading, const std::vector<Row>& rows,
                     const std::function<std::string(const Row&)>& cell) {
  std::size_t width = heading.size();
  for (const Row& row : rows) width = std::max(width, cell(row).size());
  return width;
}

/// "9 of 11 verified, 1 differs, 1 skipped".
std::string verdict_of(const std::vector<Table>& tables) {
  std::int64_t all = 0;
  std::int64_t skipped = 0;
  std::int64_t wrong = 0;
  for (const Table& table : tables) {
    for (const Row& row : all_rows(table)) {
      ++all;
      if (!row.skipped.empty()) ++skipped;
      if (!row.wrong.empty()) ++wrong;
    }
  }
  std::string text = with_thousands(all - skipped - wrong) + " of " + with_thousands(all);
  text += " verified";
  if (wrong > 0) text += ", " + with_thousands(wrong) + (wrong == 1 ? " differs" : " differ");
  if (skipped > 0) text += ", " + with_thousands(skipped) + " skipped";
  return text;
}

}  // namespace

void print_header(std::ostream& out, const std::string& device, bool cuda_on_cpu, const std::vector<Line>& lines) {
  constexpr std::size_t label_width = 7;  // as in the header of a training
  const auto print_labelled = [&](std::string label, const std::string& text) {
    label.resize(label_width, ' ');
    out << label << indented(text, label_width) << '\n';
  };
  out << "ladder on " << device << '\n';
  for (const Line& line : lines) print_labelled(line.label, line.text);
  if (cuda_on_cpu) {
    print_labelled("note", "kernels run on the CPU here: times mean nothing about GPUs");
  }
  out << std::flush;
}

TablePrinter::TablePrinter(std::ostream& out, const Table& table, Measured measured) : out_(out) {
  const std::vector<Row> rows = all_rows(table);
  columns_.push_back({table.heading, width_of(table.heading, rows, name_of), name_of, true});
  add_figures(table, measured);
  const std::size_t idea_width = width_of("idea", rows, &Row::idea);
  std::size_t width = 0;
  for (const Column& column : columns_) width += column.width + gap;
  if (width + idea_width <= page) columns_.push_back({"idea", idea_width, &Row::idea, true});
  out_ << '\n';
  print_line([](const Column& column) { return column.heading; });
}

void TablePrinter::add_figures(const Table& table, Measured measured) {
  const Row& first = table.rows.front();
  if (first.bound > 0) {
    const std::size_t widest = scientific(1e-10).size();
    add_column("difference", widest, [](const Row& row) { return scientific(row.difference); });
    if (table.reference) {
      add_column("to " + table.reference_name, widest,
                 [](const Row& row) { return row.reference_difference ? scientific(*row.reference_difference) : ""; });
    }
  }
  if (measured == Measured::nothing) return;
  if (measured == Measured::counters) return add_counters();
  add_column("time", duration(1.23e-3).size(),
             [](const Row& row) { return row.seconds ? duration(*row.seconds) : ""; });
  if (measured == Measured::rates) {
    const std::string unit = first.operations > 0 ? "FLOP/s" : "B/s";
    add_column("rate", with_prefix(1.23e9, unit).size(),
               [unit](const Row& row) { return row.seconds ? with_prefix(speed_of(row), unit) : ""; });
  }
  if (!table.reference) return;
  add_column("of " + table.reference_name, 0, [&table](const Row& row) {
    const std::optional<double> share = share_of_reference(row, table);
    return share ? fixed(100 * *share, 0) + " %" : "";
  });
}

void TablePrinter::add_column(const std::string& heading, std::size_t widest_cell,
                              const std::function<std::string(const Row&)>& cell) {
  columns_.push_back({heading, std::max(heading.size(), widest_cell), cell});
}

void TablePrinter::add_counters() {
  const auto add = [&](const std::string& heading, std::size_t widest_cell, const auto& cell) {
    add_column(heading, widest_cell, [cell](const Row& row) { return row.counters ? cell(row, *row.counters) : ""; });
  };
  add("sectors/load", 0, [](const Row& /*row*/, const auto& counters) {
    return counters.loads > 0 ? fixed(counters.sectors_per_load(), 1) : "-";
  });
  add("/store", 0, [](const Row& /*row*/, const auto& counters) {
    return counters.stores > 0 ? fixed(counters.sectors_per_store(), 1) : "-";
  });
  add("traffic", 0,
      [](const Row& row, const auto& counters) { return fixed(counters.asked_bytes() / row.bytes, 1) + "x"; });
  add("conflicts", with_thousands(99'999'999).size(), [](const Row& /*row*/, const auto& counters) {
    return with_thousands(static_cast<std::int64_t>(counters.bank_conflicts));
  });
}

void TablePrinter::print(const Row& row) {
  if (row.group != group_) {
    group_ = row.group;
    out_ << '\n' << (group_.empty() ? "" : group_ + '\n');
  }
  if (row.skipped.empty() && row.wrong.empty()) {
    print_line([&](const Column& column) { return column.cell(row); });
    return;
  }
  const std::size_t indent = columns_.front().width + gap;
  std::string name = name_of(row);
  name.resize(indent, ' ');
  const std::string sentence = row.skipped.empty() ? "DIFFERS: " + row.wrong : "skipped: " + row.skipped;
  out_ << name << indented(sentence, indent) << std::endl;
}

void TablePrinter::print_line(const std::function<std::string(const Column&)>& cell_of) {
  std::string line;
  for (const Column& column : columns_) {
    std::string cell = cell_of(column);
    if (&column != &columns_.front()) line.append(gap, ' ');
    if (column.left) cell.resize(std::max(cell.size(), column.width), ' ');
    line += right(cell, column.width);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  out_ << line << std::endl;  // flushed: someone may be waiting for it
}

void print_verdict(std::ostream& out, const std::vector<Table>& tables) {
  const bool any_picked =
      std::ranges::any_of(tables, [](const Table& table) { return std::ranges::any_of(table.rows, &Row::picked); });
  out << '\n';
  if (any_picked) out << "* what stage 03 computes such a problem with\n";
  out << verdict_of(tables) << '\n';
}

}  // namespace stagewise::ladder

#include "app/ladder_table.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "app/help.hpp"
#include "app/text.hpp"

namespace stagewise {
namespace {

constexpr std::size_t page = 80;
constexpr std::size_t gap = 2;  ///< between columns

/// Whether something was wrong with a row, or it was not run: a sentence takes the figures' place.
bool has_sentence(const LadderRow& row) {
  return !row.skipped.empty() || !row.wrong.empty();
}

/// Those of the ladder, and below them the reference's.
std::vector<LadderRow> rows_of(const LadderTable& table) {
  std::vector<LadderRow> rows = table.rows;
  rows.insert(rows.end(), table.reference_rows.begin(), table.reference_rows.end());
  return rows;
}

/// Operations or bytes a second.
double speed_of(const LadderRow& row) {
  return (row.operations > 0 ? row.operations : row.bytes) / *row.seconds;
}

struct Column {
  std::string heading;
  bool left = false;  ///< whether its cells are flush left
  std::vector<std::string> cells;

  bool empty() const {
    return std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.empty(); });
  }

  std::size_t width() const {
    std::size_t width = heading.size();
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    return width;
  }
};

std::vector<Column> columns_of(const LadderTable& table, const std::vector<LadderRow>& rows,
                               bool rates) {
  const auto cells = [&](const auto& write) {
    std::vector<std::string> texts;
    for (const LadderRow& row : rows) texts.push_back(has_sentence(row) ? "" : write(row));
    return texts;
  };
  std::vector<Column> columns;
  columns.push_back({table.heading, true, {}});
  for (const LadderRow& row : rows) {
    columns.back().cells.push_back(row.name + (row.picked ? " *" : ""));
  }
  columns.push_back({"difference", false, cells([](const LadderRow& row) {
                       return row.bound > 0 ? scientific(row.difference) : std::string();
                     })});
  columns.push_back({"to " + table.reference_name, false, cells([](const LadderRow& row) {
                       return row.reference_difference ? scientific(*row.reference_difference)
                                                       : std::string();
                     })});
  columns.push_back({"time", false, cells([](const LadderRow& row) {
                       return row.seconds ? duration(*row.seconds) : std::string();
                     })});
  if (rates) {
    columns.push_back({"rate", false, cells([](const LadderRow& row) {
                         const char* const unit = row.operations > 0 ? "FLOP/s" : "B/s";
                         return row.seconds ? with_prefix(speed_of(row), unit) : std::string();
                       })});
  }
  columns.push_back({"of " + table.reference_name, false, cells([&](const LadderRow& row) {
                       const std::optional<double> share = share_of_reference(row, table);
                       return share ? fixed(100 * *share, 0) + " %" : std::string();
                     })});
  columns.push_back({"idea", true, cells([](const LadderRow& row) { return row.idea; })});
  columns.erase(std::remove_if(columns.begin(), columns.end(),
                               [](const Column& column) { return column.empty(); }),
                columns.end());

  std::size_t width = columns.front().width();
  for (std::size_t i = 1; i < columns.size(); ++i) width += gap + columns[i].width();
  if (width > page && columns.back().heading == "idea") columns.pop_back();
  return columns;
}

/// `text`, its lines after the first moved to the right.
std::string indented(const std::string& text, std::size_t indent) {
  std::string result;
  for (const char c : wrapped(text, page - indent)) {
    result += c;
    if (c == '\n') result.append(indent, ' ');
  }
  return result;
}

void print_table(std::ostream& out, const LadderTable& table, bool rates) {
  const std::vector<LadderRow> rows = rows_of(table);
  const std::vector<Column> columns = columns_of(table, rows, rates);
  const auto print_line = [&](const auto& cell_of) {
    std::string line;
    for (const Column& column : columns) {
      const std::string& cell = cell_of(column);
      const std::string space(column.width() - cell.size(), ' ');
      if (&column != &columns.front()) line.append(gap, ' ');
      line += column.left ? cell + space : space + cell;
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  out << '\n';
  print_line([](const Column& column) -> const std::string& { return column.heading; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (has_sentence(rows[i])) {
      const std::size_t indent = columns.front().width() + gap;
      std::string name = columns.front().cells[i];
      name.resize(indent, ' ');
      out << name
          << indented(rows[i].skipped.empty() ? "DIFFERS: " + rows[i].wrong
                                              : "skipped: " + rows[i].skipped,
                      indent)
          << '\n';
    } else {
      print_line([&](const Column& column) -> const std::string& { return column.cells[i]; });
    }
  }
}

/// "9 of 11 verified, 1 differs, 1 skipped".
std::string verdict_of(const LadderReport& report) {
  std::int64_t all = 0;
  std::int64_t skipped = 0;
  std::int64_t wrong = 0;
  for (const LadderTable& table : report.tables) {
    for (const LadderRow& row : rows_of(table)) {
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

std::optional<double> share_of_reference(const LadderRow& row, const LadderTable& table) {
  if (!row.seconds || table.reference_rows.empty() || !table.reference_rows.front().seconds)
    return std::nullopt;
  return speed_of(row) / speed_of(table.reference_rows.front());
}

bool is_right(const LadderReport& report) {
  for (const LadderTable& table : report.tables) {
    for (const LadderRow& row : rows_of(table)) {
      if (!row.wrong.empty()) return false;
    }
  }
  return true;
}

void print_ladder(std::ostream& out, const Stage& stage, const LadderReport& report) {
  constexpr std::size_t label_width = 7;  // as in the header of a training
  const auto print_labelled = [&](std::string label, const std::string& text) {
    label.resize(label_width, ' ');
    out << label << indented(text, label_width) << '\n';
  };
  out << stage.program << " on " << stage.device() << '\n';
  for (const LadderLine& line : report.header) print_labelled(line.label, line.text);
  if (stage.cuda_on_cpu) {
    print_labelled("note", "kernels run on the CPU here: times mean nothing about GPUs");
  }
  bool any_picked = false;
  for (const LadderTable& table : report.tables) {
    print_table(out, table, !stage.cuda_on_cpu);
    for (const LadderRow& row : table.rows) any_picked = any_picked || row.picked;
  }
  out << '\n';
  if (any_picked) out << "* what this stage computes such a problem with\n";
  out << verdict_of(report) << '\n';
}

}  // namespace stagewise

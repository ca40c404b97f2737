#include "io/data_sets/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "io/data_sets/csv_reader.hpp"
#include "io/file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;

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

std::vector<std::string> read_header(CsvReader& reader) {
  std::vector<CsvCell> row;
  if (!reader.next(row) || (row.size() == 1 && row[0].text.empty())) {
    throw reader.failure(1, "the names of the columns were expected, but the line is empty");
  }
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const CsvCell& cell : row) {
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
    throw OptionError("--label must name the column of " + path.string() +
                          " that holds the class; the columns are " + list(columns),
                      {"label"});
  }
  const auto found = std::find(columns.begin(), columns.end(), label);
  if (found == columns.end()) {
    throw OptionError("--label " + excerpt(label) + " is not a column of " + path.string() +
                          ", whose columns are " + list(columns),
                      {"label"});
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
      all_numbers = all_numbers && parse_number(*texts_[i], values[i]) == NumberKind::finite;
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

/// What is below the header.
struct Rows {
  std::vector<double> features;
  Labels labels;
  std::size_t count = 0;
};

/// Reads them to the end of the file.
Rows read_rows(CsvReader& reader, const std::vector<std::string>& columns,
               std::size_t label_column) {
  Rows rows;
  std::vector<CsvCell> row;
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
        rows.labels.add(row[j].text);
      } else {
        rows.features.push_back(reader.number_in(row[j], columns[j]));
      }
    }
    ++rows.count;
  }
  return rows;
}

void expect_features(const std::vector<std::string>& features, const TableEncoding& known,
                     const fs::path& path) {
  if (known.features == features) return;
  throw Error(path.string() + " has the feature columns " + list(features) +
              ", but the network was trained on " + list(known.features));
}

void expect_rows(const Rows& rows, const fs::path& path) {
  if (rows.count == 0) throw Error(path.string() + " has a header, but not one row below it");
}

/// The number of each class in the order that a network was trained with.
std::vector<std::int32_t> renumber(std::vector<std::int32_t> labels,
                                   const std::vector<std::string>& classes,
                                   const std::vector<std::string>& known, const fs::path& path,
                                   const std::string& column) {
  // As where the classes were numbered: "1.0" is "1" only where all classes are numbers.
  double value = 0;
  const bool all_numbers = std::all_of(known.begin(), known.end(), [&](const std::string& name) {
    return parse_number(name, value) == NumberKind::finite;
  });
  std::vector<std::int32_t> numbers;
  for (const std::string& name : classes) {
    const bool by_value = all_numbers && parse_number(name, value) == NumberKind::finite;
    const auto found = std::find_if(known.begin(), known.end(), [&](const std::string& other) {
      double other_value = 0;
      return by_value
                 ? parse_number(other, other_value) == NumberKind::finite && other_value == value
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

/// The fewest digits that read back as the same double.
std::string written(double value) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
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
  if (known != nullptr) expect_features(encoding.features, *known, path);

  Rows rows = read_rows(reader, columns, label_column);
  expect_rows(rows, path);

  encoding.classes = rows.labels.sort();
  std::vector<std::int32_t> numbers = rows.labels.take_rows();
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
  return {Dataset(sample, classes, std::move(rows.features), std::move(numbers)),
          std::move(encoding)};
}

std::optional<Table> read_csv_without_labels(const fs::path& path, const std::string& label,
                                             const TableEncoding& known) {
  CsvReader reader(path);
  const std::vector<std::string> columns = read_header(reader);
  if (std::find(columns.begin(), columns.end(), label) != columns.end()) return std::nullopt;
  expect_features(columns, known, path);
  Rows rows = read_rows(reader, columns, columns.size());
  expect_rows(rows, path);
  const Shape sample{static_cast<Index>(columns.size())};
  return Table{Dataset(sample, 1, std::move(rows.features), std::vector<std::int32_t>(rows.count)),
               known};
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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "io/data_sets/csv_reader.hpp"
#include "io/data_sets/formats.hpp"
#include "io/file.hpp"
#include "tensor/counts.hpp"
#include "tensor/error.hpp"
#include "tensor/option_error.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + excerpt(names[i]);
  }
  return names.size() > most ? text + ", ... (" + with_thousands(std::ssize(names)) + " in all)" : text;
}

/// Names go into checkpoints, as texts, and must come back as they were.
constexpr std::string_view must_be_utf8 =
    "the name is not UTF-8; convert the file, for example with iconv -f LATIN1 -t UTF-8";

bool is_number(const std::string& text) {
  double value = 0;
  return parse_number(text, value);
}

/// Whether names that are numbers only count the columns, from 0 or 1 on, as pandas names them.
bool are_counted(const std::vector<CsvCell>& row) {
  double first = 0;
  parse_number(row[0].text, first);
  for (std::size_t i = 0; i < row.size(); ++i) {
    double value = 0;
    if (!parse_number(row[i].text, value) || value != first + static_cast<double>(i)) return false;
  }
  return first == 0 || first == 1;
}

/// How to add a line of names to a file that has none.
std::string how_to_name(const CsvReader& reader, std::size_t columns, const fs::path& path) {
  const std::string separator = reader.separator() == '\t' ? "$'\\t'" : "'" + std::string(1, reader.separator()) + "'";
  return "if the names are missing, `(seq -s " + separator + " " + std::to_string(columns) + "; zcat -f " +
         path.string() + ") > named.csv` numbers the columns from 1";
}

std::vector<std::string> read_header(CsvReader& reader, const fs::path& path) {
  std::vector<CsvCell> row;
  const bool has_line = reader.next(row);
  while (row.size() > 1 && row.back().text.empty()) row.pop_back();  // a separator ends each line
  const std::size_t line = reader.row_line();
  if (!has_line || (row.size() == 1 && row[0].text.empty())) {
    throw reader.failure(line, "the names of the columns were expected, but the line is empty");
  }
  for (const auto& [sign, why] : {std::pair{'\0', "the file is no text: a byte of it is 0"},
                                  std::pair{'\r', "lines end with CR alone; `tr '\\r' '\\n'` makes that LF"}}) {
    const auto has_it = [sign = sign](const CsvCell& cell) { return cell.text.find(sign) != std::string::npos; };
    if (std::ranges::any_of(row, has_it)) throw reader.failure(line, why);
  }
  const bool all_numbers = std::ranges::all_of(row, is_number, &CsvCell::text);
  if (all_numbers && !are_counted(row)) {
    throw reader.failure(line, "the names of the columns were expected, but the line has numbers only; " +
                                   how_to_name(reader, row.size(), path));
  }
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const CsvCell& cell : row) {
    const std::string number = std::to_string(names.size() + 1);
    if (cell.text.empty()) {
      throw reader.failure(
          cell.line, number,
          std::string("the column has no name") +
              (names.empty() ? "; if pandas numbered its rows, to_csv(..., index=False) does not" : ""));
    }
    if (!is_utf8(cell.text)) throw reader.failure(cell.line, number, std::string(must_be_utf8));
    if (!seen.insert(cell.text).second) {
      throw reader.failure(cell.line, number,
                           "the name " + in_quotes(cell.text) + " has been given to a column before" +
                               (is_number(cell.text) ? "; " + how_to_name(reader, row.size(), path) : ""));
    }
    names.push_back(cell.text);
  }
  return names;
}

/// @return the number of columns if there is no such column, which needs not be there.
std::size_t find_label(const CsvReader& reader, const std::vector<std::string>& columns, const std::string& label,
                       const fs::path& path, bool is_needed) {
  const auto found = std::find(columns.begin(), columns.end(), label);
  if (found == columns.end() && is_needed) {
    throw OptionError(
        "--label " +
            (label.empty() ? "must name the column of " + path.string() + " that holds the class; the columns are "
                           : excerpt(label) + " is not a column of " + path.string() + ", whose columns are ") +
            list(columns) +
            (std::ranges::any_of(columns, is_number) ? "; " + how_to_name(reader, columns.size(), path) : ""),
        {"label"});
  }
  return static_cast<std::size_t>(found - columns.begin());
}

/// Whether all of these are finite numbers.
bool are_numbers(const std::vector<std::string>& texts) { return std::ranges::all_of(texts, is_number); }

/// The classes that the texts of the label column name, in ascending order.
std::vector<std::string> classes_of(const std::vector<std::string>& labels) {
  const bool by_value = are_numbers(labels);
  std::map<std::pair<double, std::string>, std::string> classes;
  for (const std::string& label : labels) {
    double value = 0;
    if (by_value) parse_number(label, value);
    classes.try_emplace({value, by_value ? "" : label}, label);
  }
  std::vector<std::string> names;
  for (const auto& [order, name] : classes) names.push_back(name);
  return names;
}

/// The number of each label among the classes.
/// @throws Error for a label that is none of them.
std::vector<std::int32_t> numbers_of(const std::vector<std::string>& labels, const std::vector<std::string>& classes,
                                     const std::string& column, const fs::path& path) {
  const bool by_value = are_numbers(classes);  // only then is "1.0" the class "1"
  const auto key_of = [&](const std::string& text) {
    double value = 0;
    const bool is_number = by_value && parse_number(text, value);
    return is_number ? shortest(value == 0 ? 0 : value) : text;  // -0 is 0
  };
  std::map<std::string, std::int32_t> numbers;
  for (std::int32_t number = 0; const std::string& name : classes) {
    numbers.emplace(key_of(name), number++);
  }
  std::vector<std::int32_t> result;
  for (const std::string& label : labels) {
    const auto found = numbers.find(key_of(label));
    if (found == numbers.end()) {
      throw Error("the column " + excerpt(column) + " of " + path.string() + " holds " + in_quotes(label) +
                  ", but the network was trained on the classes " + list(classes));
    }
    result.push_back(found->second);
  }
  return result;
}

/// What is below the header.
struct Rows {
  std::vector<double> features;
  std::vector<std::string> labels;
  std::size_t count = 0;
};

/// Reads them to the end of the file.
Rows read_rows(CsvReader& reader, const std::vector<std::string>& columns, std::size_t label_column) {
  Rows rows;
  std::vector<CsvCell> row;
  std::size_t empty_line = 0;
  while (reader.next(row)) {
    while (row.size() > columns.size() && row.back().text.empty()) row.pop_back();
    if (std::ranges::all_of(row, [](const CsvCell& cell) { return cell.text.empty(); })) {
      if (empty_line == 0) empty_line = reader.row_line();
      continue;
    }
    if (empty_line != 0) throw reader.failure(empty_line, "the line is empty, but rows follow it");
    if (row.size() != columns.size()) {
      throw reader.failure(reader.row_line(), "the number of cells is " + with_thousands(std::ssize(row)) +
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
        rows.labels.push_back(row[j].text);
      } else {
        rows.features.push_back(reader.number_in(row[j], columns[j]));
      }
    }
    ++rows.count;
  }
  return rows;
}

}  // namespace

std::string to_text(const TableEncoding& encoding) {
  const Json json = {{"features", encoding.features},
                     {"classes", encoding.classes},
                     {"mean", encoding.standardization.mean},
                     {"deviation", encoding.standardization.deviation}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TableEncoding parse_table_encoding(const std::string& text) {
  TableEncoding encoding;
  try {
    const Json json = Json::parse(text);
    json.at("features").get_to(encoding.features);
    json.at("classes").get_to(encoding.classes);
    json.at("mean").get_to(encoding.standardization.mean);
    json.at("deviation").get_to(encoding.standardization.deviation);
  } catch (const Json::exception&) {
    throw Error("the description of a table's columns is not the JSON it should be");
  }
  const std::size_t features = encoding.features.size();
  if (encoding.standardization.mean.size() != features || encoding.standardization.deviation.size() != features ||
      encoding.classes.empty()) {
    throw Error("the description of a table's columns does not fit together");
  }
  return encoding;
}

Table read_csv(const fs::path& path, const std::string& label, const TableEncoding* known, bool needs_labels) {
  CsvReader reader(path);
  const std::vector<std::string> columns = read_header(reader, path);
  const std::size_t label_column = find_label(reader, columns, label, path, needs_labels || known == nullptr);
  const bool has_labels = label_column < columns.size();
  TableEncoding encoding;
  encoding.features = columns;
  if (has_labels) {
    encoding.features.erase(encoding.features.begin() + static_cast<std::ptrdiff_t>(label_column));
  }
  if (encoding.features.empty()) {
    throw Error(path.string() + " has no column but " + excerpt(label) + ": there is nothing to learn from");
  }
  if (known != nullptr && known->features != encoding.features) {
    throw Error(path.string() + " has the feature columns " + list(encoding.features) +
                ", but the network was trained on " + list(known->features));
  }

  Rows rows = read_rows(reader, columns, label_column);
  if (rows.count == 0) throw Error(path.string() + " has a header, but not one row below it");
  const bool may_be_a_row = has_labels && !is_number(label) && are_numbers(encoding.features);
  if (may_be_a_row && std::ranges::find(rows.labels, label) != rows.labels.end()) {
    throw Error("the name " + excerpt(label) + " of a column of " + path.string() + " is also a class in it; " +
                how_to_name(reader, columns.size(), path));
  }

  if (known != nullptr) {
    encoding = *known;
  } else {
    encoding.classes = classes_of(rows.labels);
    if (encoding.classes.size() < 2) {
      throw Error("the column " + excerpt(label) + " of " + path.string() + " holds one class only, " +
                  in_quotes(encoding.classes.front()) + ": there is nothing to tell apart");
    }
  }
  std::vector<std::int32_t> numbers(rows.count);
  if (has_labels) numbers = numbers_of(rows.labels, encoding.classes, label, path);
  const Shape sample{static_cast<Index>(encoding.features.size())};
  const int classes = has_labels ? static_cast<int>(encoding.classes.size()) : 1;
  std::string note;
  if (!reader.decimal_comma().empty()) {
    const std::string& example = reader.decimal_comma();
    note = "numbers have decimal commas: " + example + " is read as " +
           std::string(example).replace(example.find(','), 1, ".");
  }
  return {Dataset(sample, classes, std::move(rows.features), std::move(numbers)), std::move(encoding), has_labels,
          std::move(note)};
}

void write_csv(const Dataset& dataset, const fs::path& path) {
  const auto features = static_cast<std::size_t>(dataset.sample_shape().elements());
  std::string text;
  for (std::size_t j = 0; j < features; ++j) text += "x" + std::to_string(j + 1) + ",";
  text += "label\n";
  for (std::size_t i = 0; i < dataset.labels().size(); ++i) {
    for (std::size_t j = 0; j < features; ++j) {
      const std::size_t at = i * features + j;
      text += dataset.pixels() != nullptr ? std::to_string((*dataset.pixels())[at]) : shortest((*dataset.values())[at]);
      text += ',';
    }
    text += std::to_string(dataset.labels()[i]) + "\n";
  }
  write_file(path, std::as_bytes(std::span(text)), "table");
}

}  // namespace stagewise

#include "cli/confusion.hpp"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <optional>

#include "cli/header.hpp"
#include "cli/text.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

std::optional<double> fraction(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string text_of(const std::optional<double>& value) {
  return value ? fixed(*value, 4) : "-";
}

std::int64_t sum_of(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// @param first the column with the names of the classes.
void print_matrix(const ConfusionReport& confusion, const std::vector<std::string>& names,
                  const Column& first, std::size_t columns_of_output) {
  const std::size_t classes = names.size();
  std::int64_t most = 0;
  for (const auto& row : confusion.counts)
    most = std::max(most, *std::max_element(row.begin(), row.end()));
  const std::size_t width =
      2 + std::max(std::to_string(classes - 1).size(), with_thousands(most).size());
  if (first.width + width * classes > columns_of_output) {
    print_note("a matrix of " + with_thousands(std::ssize(names)) +
               " classes is too wide for this; --csv and --report write it");
    return;
  }
  std::vector<Column> columns = {{"", first.width, true}};
  for (std::size_t i = 0; i < classes; ++i) columns.push_back({std::to_string(i), width});
  std::cout << "\nconfusion: a row for each class, a column for each answer\n"
            << heading_of(columns);
  for (std::size_t label = 0; label < classes; ++label) {
    std::vector<std::string> cells = {names[label]};
    for (const std::int64_t count : confusion.counts[label]) {
      cells.push_back(count == 0 ? "." : with_thousands(count));
    }
    std::cout << row_of(columns, cells);
  }
}

}  // namespace

ConfusionReport confusion_of(int classes, std::span<const std::int32_t> labels,
                             std::span<const std::int32_t> answers) {
  const auto size = static_cast<std::size_t>(classes);
  ConfusionReport report;
  report.counts.assign(size, std::vector<std::int64_t>(size));
  std::vector<std::int64_t> answered(size);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ++report.counts[static_cast<std::size_t>(labels[i])][static_cast<std::size_t>(answers[i])];
    ++answered[static_cast<std::size_t>(answers[i])];
  }
  for (std::size_t i = 0; i < size; ++i) {
    report.precision.push_back(fraction(report.counts[i][i], answered[i]));
    report.recall.push_back(fraction(report.counts[i][i], sum_of(report.counts[i])));
  }
  return report;
}

void print_confusion(const ConfusionReport& confusion, const std::vector<std::string>& names,
                     std::size_t columns) {
  constexpr std::size_t longest = 20;
  Column first = {"class", std::string("class").size(), true};
  std::vector<std::string> entries;
  for (const std::string& name : names) {
    entries.push_back(excerpt(name, longest));
    first.width = std::max(first.width, entries.back().size());
  }
  print_matrix(confusion, entries, first, columns);
  const std::vector<Column> of_classes = {
      first, {"samples", 11}, {"precision", 11}, {"recall", 11}};
  std::cout << '\n' << heading_of(of_classes);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::cout << row_of(of_classes,
                        {entries[i], with_thousands(sum_of(confusion.counts[i])),
                         text_of(confusion.precision[i]), text_of(confusion.recall[i])});
  }
}

std::string csv_of(const ConfusionReport& confusion, const std::vector<std::string>& names) {
  std::vector<std::string> cells = {"label"};
  cells.insert(cells.end(), names.begin(), names.end());
  std::string text = csv_line(cells);
  for (std::size_t label = 0; label < names.size(); ++label) {
    cells = {names[label]};
    for (const std::int64_t count : confusion.counts[label]) cells.push_back(std::to_string(count));
    text += csv_line(cells);
  }
  return text;
}

}  // namespace stagewise

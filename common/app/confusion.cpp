#include "app/confusion.hpp"

#include <algorithm>
#include <iostream>

#include "app/header.hpp"
#include "app/text.hpp"
#include "io/csv_line.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// The names of the classes as the tables' first column, and how wide that is.
struct FirstColumn {
  explicit FirstColumn(const std::vector<std::string>& names) {
    constexpr std::size_t longest = 20;
    for (const std::string& name : names) {
      entries.push_back(excerpt(name, longest));
      width = std::max(width, entries.back().size());
    }
  }

  std::vector<std::string> entries;
  std::size_t width = std::string("class").size();
};

std::optional<double> fraction(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string text_of(const std::optional<double>& value) {
  return value ? fixed(*value, 4) : "-";
}

void print_matrix(const Confusion& confusion, const FirstColumn& first,
                  std::size_t columns_of_output) {
  std::size_t width = 2 + std::to_string(confusion.classes() - 1).size();
  for (int label = 0; label < confusion.classes(); ++label) {
    for (int answer = 0; answer < confusion.classes(); ++answer) {
      width = std::max(width, 2 + with_thousands(confusion.count(label, answer)).size());
    }
  }
  if (first.width + width * first.entries.size() > columns_of_output) {
    print_note("a matrix of " + with_thousands(confusion.classes()) +
               " classes is too wide for this; --csv and --report write it");
    return;
  }
  std::vector<Column> columns = {{"", first.width, true}};
  for (int answer = 0; answer < confusion.classes(); ++answer) {
    columns.push_back({std::to_string(answer), width});
  }
  std::cout << "\nconfusion: a row for each class, a column for each answer\n"
            << heading_of(columns);
  for (int label = 0; label < confusion.classes(); ++label) {
    std::vector<std::string> cells = {first.entries[static_cast<std::size_t>(label)]};
    for (int answer = 0; answer < confusion.classes(); ++answer) {
      const std::int64_t count = confusion.count(label, answer);
      cells.push_back(count == 0 ? "." : with_thousands(count));
    }
    std::cout << row_of(columns, cells);
  }
}

}  // namespace

Confusion::Confusion(int classes, std::span<const std::int32_t> labels,
                     std::span<const std::int32_t> answers)
    : classes_(classes),
      counts_(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes)) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ++counts_[static_cast<std::size_t>(labels[i]) * static_cast<std::size_t>(classes) +
              static_cast<std::size_t>(answers[i])];
  }
}

std::int64_t Confusion::count(int label, int answer) const {
  return counts_[static_cast<std::size_t>(label) * static_cast<std::size_t>(classes_) +
                 static_cast<std::size_t>(answer)];
}

std::int64_t Confusion::samples(int label) const {
  std::int64_t sum = 0;
  for (int answer = 0; answer < classes_; ++answer) sum += count(label, answer);
  return sum;
}

std::optional<double> Confusion::precision(int answer) const {
  std::int64_t sum = 0;
  for (int label = 0; label < classes_; ++label) sum += count(label, answer);
  return fraction(count(answer, answer), sum);
}

std::optional<double> Confusion::recall(int label) const {
  return fraction(count(label, label), samples(label));
}

void print_confusion(const Confusion& confusion, const std::vector<std::string>& names,
                     std::size_t columns) {
  const FirstColumn first(names);
  print_matrix(confusion, first, columns);
  const std::vector<Column> of_classes = {
      {"class", first.width, true}, {"samples", 11}, {"precision", 11}, {"recall", 11}};
  std::cout << '\n' << heading_of(of_classes);
  for (int label = 0; label < confusion.classes(); ++label) {
    std::cout << row_of(
        of_classes,
        {first.entries[static_cast<std::size_t>(label)], with_thousands(confusion.samples(label)),
         text_of(confusion.precision(label)), text_of(confusion.recall(label))});
  }
}

ConfusionReport report_of(const Confusion& confusion) {
  ConfusionReport report;
  for (int label = 0; label < confusion.classes(); ++label) {
    std::vector<std::int64_t> row;
    for (int answer = 0; answer < confusion.classes(); ++answer) {
      row.push_back(confusion.count(label, answer));
    }
    report.counts.push_back(std::move(row));
    report.precision.push_back(confusion.precision(label));
    report.recall.push_back(confusion.recall(label));
  }
  return report;
}

std::string csv_of(const Confusion& confusion, const std::vector<std::string>& names) {
  std::vector<std::string> cells = {"label"};
  cells.insert(cells.end(), names.begin(), names.end());
  std::string text = csv_line(cells);
  for (int label = 0; label < confusion.classes(); ++label) {
    cells = {names[static_cast<std::size_t>(label)]};
    for (int answer = 0; answer < confusion.classes(); ++answer) {
      cells.push_back(std::to_string(confusion.count(label, answer)));
    }
    text += csv_line(cells);
  }
  return text;
}

}  // namespace stagewise

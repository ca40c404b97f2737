#include "app/confusion.hpp"

#include <algorithm>
#include <iostream>

#include "app/header.hpp"
#include "app/text.hpp"
#include "io/csv_line.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

/// A column of the tables that names the classes, all entries with the same width.
std::vector<std::string> first_column(const std::vector<std::string>& names) {
  constexpr std::size_t longest = 20;
  std::vector<std::string> entries;
  std::size_t width = std::string("class").size();
  for (const std::string& name : names) {
    entries.push_back(excerpt(name, longest));
    width = std::max(width, entries.back().size());
  }
  for (std::string& entry : entries) entry.resize(width, ' ');
  return entries;
}

std::optional<double> fraction(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string text_of(const std::optional<double>& value) {
  return value ? fixed(*value, 4) : "-";
}

void print_matrix(const Confusion& confusion, const std::vector<std::string>& rows,
                  std::size_t columns) {
  std::size_t width = 2 + std::to_string(confusion.classes() - 1).size();
  for (int label = 0; label < confusion.classes(); ++label) {
    for (int answer = 0; answer < confusion.classes(); ++answer) {
      width = std::max(width, 2 + with_thousands(confusion.count(label, answer)).size());
    }
  }
  const std::size_t names = rows.front().size();
  if (names + width * rows.size() > columns) {
    print_note("a matrix of " + with_thousands(confusion.classes()) +
               " classes is too wide for this; --csv and --report write it");
    return;
  }
  std::cout << "\nconfusion: a row for each class, a column for each answer\n"
            << std::string(names, ' ');
  for (int answer = 0; answer < confusion.classes(); ++answer) {
    std::cout << right(std::to_string(answer), width);
  }
  std::cout << '\n';
  for (int label = 0; label < confusion.classes(); ++label) {
    std::cout << rows[static_cast<std::size_t>(label)];
    for (int answer = 0; answer < confusion.classes(); ++answer) {
      const std::int64_t count = confusion.count(label, answer);
      std::cout << right(count == 0 ? "." : with_thousands(count), width);
    }
    std::cout << '\n';
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
  const std::vector<std::string> rows = first_column(names);
  print_matrix(confusion, rows, columns);
  std::string head = "class";
  head.resize(rows.front().size(), ' ');
  constexpr std::size_t width = 11;
  std::cout << '\n'
            << head << right("samples", width) << right("precision", width)
            << right("recall", width) << '\n';
  for (int label = 0; label < confusion.classes(); ++label) {
    std::cout << rows[static_cast<std::size_t>(label)]
              << right(with_thousands(confusion.samples(label)), width)
              << right(text_of(confusion.precision(label)), width)
              << right(text_of(confusion.recall(label)), width) << '\n';
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

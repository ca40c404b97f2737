#include "cli/answer_tables.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <optional>
#include <utility>

#include "cli/run.hpp"
#include "cli/text.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

std::optional<double> fraction(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string text_of(const std::optional<double>& value) { return value ? fixed(*value, 4) : "-"; }

std::int64_t sum_of(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// @param first the column with the names of the classes.
void print_matrix(const ConfusionReport& confusion, const std::vector<std::string>& names, const Column& first,
                  std::size_t columns_of_output) {
  const std::size_t classes = names.size();
  std::int64_t most = 0;
  for (const auto& row : confusion.counts) most = std::max(most, *std::ranges::max_element(row));
  const std::size_t width = 2 + std::max(std::to_string(classes - 1).size(), with_thousands(most).size());
  if (first.width + width * classes > columns_of_output) {
    print_note("a matrix of " + with_thousands(std::ssize(names)) +
               " classes is too wide for this; --csv and --report write it");
    return;
  }
  std::vector<Column> columns = {{"", first.width, true}};
  for (std::size_t i = 0; i < classes; ++i) columns.push_back({std::to_string(i), width});
  std::cout << "\nconfusion: a row for each class, a column for each answer\n" << heading_of(columns);
  for (std::size_t label = 0; label < classes; ++label) {
    std::vector<std::string> cells = {names[label]};
    for (const std::int64_t count : confusion.counts[label]) {
      cells.push_back(count == 0 ? "." : with_thousands(count));
    }
    std::cout << row_of(columns, cells);
  }
}

constexpr std::size_t name_width = 14;

const std::string& name_of(const Predictions& predictions, Index index) {
  return predictions.names[static_cast<std::size_t>(index)];
}

/// A class's name, as long as a column of a table is wide.
std::string name_column(const Predictions& predictions, Index index) {
  return excerpt(name_of(predictions, index), name_width - 2);
}

/// The classes by falling score; the answer comes first.
std::vector<std::size_t> ranking(const PredictionReport& sample) {
  std::vector<std::size_t> order(sample.scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t index) {
    return std::pair(std::cmp_equal(index, sample.predicted), sample.scores[index]);
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  return order;
}

}  // namespace

ConfusionReport confusion_of(int classes, std::span<const std::int32_t> labels, std::span<const std::int32_t> answers) {
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

void print_confusion(const ConfusionReport& confusion, const std::vector<std::string>& names, std::size_t columns) {
  constexpr std::size_t longest = 20;
  Column first = {"class", std::string("class").size(), true};
  std::vector<std::string> entries;
  for (const std::string& name : names) {
    entries.push_back(excerpt(name, longest));
    first.width = std::max(first.width, entries.back().size());
  }
  print_matrix(confusion, entries, first, columns);
  const std::vector<Column> of_classes = {first, {"samples", 11}, {"precision", 11}, {"recall", 11}};
  std::cout << '\n' << heading_of(of_classes);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::cout << row_of(of_classes, {entries[i], with_thousands(sum_of(confusion.counts[i])),
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

void print_table(const Predictions& predictions) {
  constexpr std::size_t most = 20;
  const std::size_t count = predictions.samples.size();
  std::vector<Column> columns = {{"sample", 9, true},
                                 {"answer", name_width, true},
                                 {predictions.score, 13, true},
                                 {"second", name_width, true},
                                 {predictions.score, 0, true}};
  if (predictions.samples[0].label) columns.insert(columns.begin() + 1, {"label", name_width, true});
  std::cout << '\n' << heading_of(columns);
  for (std::size_t i = 0; i < std::min(count, most); ++i) {
    const PredictionReport& sample = predictions.samples[i];
    std::vector<std::string> cells = {std::to_string(sample.sample)};
    if (sample.label) cells.push_back(name_column(predictions, *sample.label));
    const std::vector<std::size_t> order = ranking(sample);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const bool exists = rank < order.size();
      cells.push_back(exists ? name_column(predictions, static_cast<Index>(order[rank])) : "");
      cells.push_back(exists ? fixed(sample.scores[order[rank]], 4) : "");
    }
    if (sample.label && *sample.label != sample.predicted) cells.back() += "  wrong";
    std::cout << row_of(columns, cells);
  }
  if (count > most) {
    std::cout << "and " << with_thousands(static_cast<Index>(count - most))
              << " more, which --csv and --report write\n";
  }
}

void print_scores(const Predictions& predictions) {
  constexpr std::size_t most = 10;
  constexpr double bar_width = 40;
  const PredictionReport& sample = predictions.samples[0];
  const std::vector<std::size_t> order = ranking(sample);
  std::cout << '\n' << left("class", name_width) << predictions.score << '\n';
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) {
    const double score = sample.scores[order[i]];
    const double part = std::clamp(score, 0.0, 1.0);
    const std::string bar(static_cast<std::size_t>(std::lround(part * bar_width)), '#');
    std::cout << left(name_column(predictions, static_cast<Index>(order[i])), name_width) << fixed(score, 4)
              << (bar.empty() ? "" : "  " + bar) << '\n';
  }
}

std::string csv_of(const Predictions& predictions) {
  std::vector<std::string> cells = {"sample"};
  if (predictions.samples[0].label) cells.emplace_back("label");
  cells.emplace_back("predicted");
  for (const std::string& name : predictions.names) cells.push_back(predictions.score + " " + name);
  std::string text = csv_line(cells);
  for (const PredictionReport& sample : predictions.samples) {
    cells = {std::to_string(sample.sample)};
    if (sample.label) cells.push_back(name_of(predictions, *sample.label));
    cells.push_back(name_of(predictions, sample.predicted));
    for (const double score : sample.scores) cells.push_back(shortest(score));
    text += csv_line(cells);
  }
  return text;
}

}  // namespace stagewise

#include "app/predictions.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <optional>

#include "app/text.hpp"
#include "io/csv_line.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

constexpr std::size_t name_width = 14;

const std::string& name_of(const Predictions& predictions, std::int32_t index) {
  return predictions.names[static_cast<std::size_t>(index)];
}

/// A class's name, as long as a column of a table is wide.
std::string name_column(const Predictions& predictions, std::int32_t index) {
  return excerpt(name_of(predictions, index), name_width - 2);
}

/// The classes by falling score; the answer comes first.
std::vector<std::int32_t> ranking(const Answers& answers, Index sample) {
  const std::span<const double> scores = answers.scores_of(sample);
  std::vector<std::int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  const std::int32_t answer = answers.classes[static_cast<std::size_t>(sample)];
  std::rotate(order.begin(), std::find(order.begin(), order.end(), answer),
              std::find(order.begin(), order.end(), answer) + 1);
  return order;
}

double score_of(const Answers& answers, Index sample, std::int32_t index) {
  return answers.scores_of(sample)[static_cast<std::size_t>(index)];
}

std::optional<std::int32_t> label_of(const Predictions& predictions, Index sample) {
  if (predictions.labels.empty()) return std::nullopt;
  return predictions.labels[static_cast<std::size_t>(sample)];
}

}  // namespace

void print_table(const Predictions& predictions) {
  constexpr Index most = 20;
  const Answers& answers = predictions.answers;
  const Index count = std::ssize(answers.classes);
  const bool has_labels = !predictions.labels.empty();
  std::vector<Column> columns = {{"sample", 9, true}};
  if (has_labels) columns.push_back({"label", name_width, true});
  for (const Column& column : {Column{"answer", name_width, true},
                               {predictions.score, 13, true},
                               {"second", name_width, true},
                               {predictions.score, 0, true}}) {
    columns.push_back(column);
  }
  std::cout << '\n' << heading_of(columns);
  for (Index i = 0; i < std::min(count, most); ++i) {
    const std::vector<std::int32_t> order = ranking(answers, i);
    std::vector<std::string> cells = {std::to_string(predictions.first + i)};
    const std::optional<std::int32_t> label = label_of(predictions, i);
    if (label) cells.push_back(name_column(predictions, *label));
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const bool exists = rank < order.size();
      cells.push_back(exists ? name_column(predictions, order[rank]) : "");
      cells.push_back(exists ? fixed(score_of(answers, i, order[rank]), 4) : "");
    }
    if (label && *label != order[0]) cells.back() += "  wrong";
    std::cout << row_of(columns, cells);
  }
  if (count > most) {
    std::cout << "and " << with_thousands(count - most)
              << " more, which --csv and --report write\n";
  }
}

void print_scores(const Predictions& predictions, Index sample) {
  constexpr std::size_t most = 10;
  constexpr double bar_width = 40;
  const std::vector<std::int32_t> order = ranking(predictions.answers, sample);
  std::cout << '\n' << left("class", name_width) << predictions.score << '\n';
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) {
    const double score = score_of(predictions.answers, sample, order[i]);
    const double part = std::clamp(score, 0.0, 1.0);
    const std::string bar(static_cast<std::size_t>(std::lround(part * bar_width)), '#');
    std::cout << left(name_column(predictions, order[i]), name_width) << fixed(score, 4)
              << (bar.empty() ? "" : "  " + bar) << '\n';
  }
}

std::vector<PredictionReport> report_of(const Predictions& predictions) {
  std::vector<PredictionReport> reports;
  for (Index i = 0; i < std::ssize(predictions.answers.classes); ++i) {
    const std::span<const double> scores = predictions.answers.scores_of(i);
    reports.push_back({.sample = predictions.first + i,
                       .label = label_of(predictions, i),
                       .predicted = predictions.answers.classes[static_cast<std::size_t>(i)],
                       .scores = {scores.begin(), scores.end()}});
  }
  return reports;
}

std::string csv_of(const Predictions& predictions) {
  std::vector<std::string> cells = {"sample"};
  if (!predictions.labels.empty()) cells.emplace_back("label");
  cells.emplace_back("predicted");
  for (const std::string& name : predictions.names) cells.push_back(predictions.score + " " + name);
  std::string text = csv_line(cells);
  for (Index i = 0; i < std::ssize(predictions.answers.classes); ++i) {
    cells = {std::to_string(predictions.first + i)};
    if (const auto label = label_of(predictions, i)) {
      cells.push_back(name_of(predictions, *label));
    }
    const std::int32_t answer = predictions.answers.classes[static_cast<std::size_t>(i)];
    cells.push_back(name_of(predictions, answer));
    for (const double score : predictions.answers.scores_of(i)) cells.push_back(shortest(score));
    text += csv_line(cells);
  }
  return text;
}

}  // namespace stagewise

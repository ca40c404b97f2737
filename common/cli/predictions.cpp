#include "cli/predictions.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <utility>

#include "cli/text.hpp"
#include "tensor/quote.hpp"

namespace stagewise {
namespace {

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
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  return order;
}

}  // namespace

void print_table(const Predictions& predictions) {
  constexpr std::size_t most = 20;
  const std::size_t count = predictions.samples.size();
  std::vector<Column> columns = {{"sample", 9, true},
                                 {"answer", name_width, true},
                                 {predictions.score, 13, true},
                                 {"second", name_width, true},
                                 {predictions.score, 0, true}};
  if (predictions.samples[0].label)
    columns.insert(columns.begin() + 1, {"label", name_width, true});
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
    std::cout << left(name_column(predictions, static_cast<Index>(order[i])), name_width)
              << fixed(score, 4) << (bar.empty() ? "" : "  " + bar) << '\n';
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

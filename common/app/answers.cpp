#include "app/answers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/eager_predictor.hpp"
#include "io/data_sets/catalog.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

bool are_probabilities(const ModelOptions& model) {
  return model.loss == LossKind::cross_entropy || model.name == "neuron";
}

/// Adds what the outputs for one sample say about each class.
void append_scores(std::span<const double> outputs, const ModelOptions& model,
                   std::vector<double>& scores) {
  if (model.name == "neuron") {
    scores.insert(scores.end(), {1 - outputs[0], outputs[0]});
    return;
  }
  const auto first = static_cast<std::ptrdiff_t>(scores.size());
  scores.insert(scores.end(), outputs.begin(), outputs.end());
  if (!are_probabilities(model)) return;
  const double largest = *std::max_element(outputs.begin(), outputs.end());
  double sum = 0;
  for (auto score = scores.begin() + first; score != scores.end(); ++score) {
    *score = std::exp(*score - largest);
    sum += *score;
  }
  for (auto score = scores.begin() + first; score != scores.end(); ++score) *score /= sum;
}

}  // namespace

std::span<const double> Answers::scores_of(Index sample) const {
  return std::span(scores).subspan(static_cast<std::size_t>(sample * width),
                                   static_cast<std::size_t>(width));
}

double Answers::confidence(Index sample) const {
  return scores_of(sample)[static_cast<std::size_t>(classes[static_cast<std::size_t>(sample)])];
}

template <typename T>
Answers answers_to(const Dataset& dataset, Network<T>& network, const ModelOptions& model) {
  EagerPredictor<T> predictor(network);
  const auto rows = static_cast<std::size_t>(predictor.rows());
  std::vector<std::uint32_t> batch(rows);
  std::vector<std::int32_t> classes(rows);
  Answers answers = {.classes = {}, .scores = {}, .width = model.classes};
  for (Index first = 0; first < dataset.size(); first += predictor.rows()) {
    const auto count = static_cast<std::size_t>(std::min(predictor.rows(), dataset.size() - first));
    std::iota(batch.begin(), batch.end(), static_cast<std::uint32_t>(first));
    // Batches are full: in the last one, the rows left over are for the first sample again.
    std::fill(batch.begin() + static_cast<std::ptrdiff_t>(count), batch.end(), 0U);
    dataset.gather(std::span<const std::uint32_t>(batch), predictor.features());
    predictor.predict(classes.data());
    const std::vector<T> raw = predictor.outputs();
    const std::vector<double> outputs(raw.begin(), raw.end());
    const std::size_t width = outputs.size() / rows;
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> own = std::span(outputs).subspan(i * width, width);
      if (!std::all_of(own.begin(), own.end(), [](double value) { return std::isfinite(value); })) {
        throw Error("the outputs of the network for sample " + std::to_string(batch[i]) +
                    " of the data set are not finite");
      }
      append_scores(own, model, answers.scores);
      answers.classes.push_back(classes[i]);
    }
  }
  return answers;
}

std::vector<Mistake> SharedAnswers::mistakes(std::span<const std::int32_t> labels,
                                             Index most) const {
  std::vector<Mistake> all;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (classes[i] == labels[i]) continue;
    all.push_back({static_cast<Index>(i), labels[i], classes[i], confidences[i]});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Mistake& a, const Mistake& b) { return a.confidence > b.confidence; });
  if (std::ssize(all) > most) all.resize(static_cast<std::size_t>(most));
  return all;
}

SharedAnswers gather(const Answers& own, Ranks& ranks) {
  std::vector<double> confidences;
  for (Index i = 0; i < std::ssize(own.classes); ++i) confidences.push_back(own.confidence(i));
  const std::vector<double> classes = ranks.gather({own.classes.begin(), own.classes.end()});
  return {{classes.begin(), classes.end()}, ranks.gather(confidences)};
}

std::vector<std::string> class_names(const Checkpoint& checkpoint, const RunOptions& options) {
  std::vector<std::string> names;
  const auto dataset = checkpoint.settings.find("dataset");
  if (options.encoding) {
    names = options.encoding->classes;
  } else if (dataset == checkpoint.settings.end()) {
    if (options.data.format.empty()) names = class_names_of(options.data.name);
  } else if (!checkpoint.settings.contains("format")) {
    names = class_names_of(dataset->second);
  }
  if (std::ssize(names) == options.model.classes) return names;
  names.clear();
  for (int i = 0; i < options.model.classes; ++i) names.push_back(std::to_string(i));
  return names;
}

bool are_more_than_numbers(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != std::to_string(i)) return true;
  }
  return false;
}

std::string name_of_score(const ModelOptions& model) {
  return are_probabilities(model) ? "probability" : "output";
}

template Answers answers_to(const Dataset&, Network<float>&, const ModelOptions&);
template Answers answers_to(const Dataset&, Network<double>&, const ModelOptions&);

}  // namespace stagewise

#include "cli/answers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/eager_predictor.hpp"
#include "io/data_sets/catalog.hpp"
#include "tensor/error.hpp"

namespace stagewise {
namespace {

bool are_probabilities(const ModelOptions& model) {
  return model.loss == LossKind::cross_entropy || model.name == "neuron";
}

/// What the outputs for one sample say about each class.
std::vector<double> scores_of(std::vector<double> outputs, const ModelOptions& model) {
  if (model.name == "neuron") return {1 - outputs[0], outputs[0]};
  if (!are_probabilities(model)) return outputs;
  const double largest = *std::max_element(outputs.begin(), outputs.end());
  double sum = 0;
  for (double& output : outputs) {
    output = std::exp(output - largest);
    sum += output;
  }
  for (double& output : outputs) output /= sum;
  return outputs;
}

}  // namespace

template <typename T>
std::vector<PredictionReport> answers_to(const Dataset& dataset, Network<T>& network, const ModelOptions& model) {
  EagerPredictor<T> predictor(network);
  const auto rows = static_cast<std::size_t>(predictor.rows());
  std::vector<std::uint32_t> batch(rows);
  std::vector<std::int32_t> classes(rows);
  std::vector<PredictionReport> answers;
  for (Index first = 0; first < dataset.size(); first += predictor.rows()) {
    const auto count = static_cast<std::size_t>(std::min(predictor.rows(), dataset.size() - first));
    std::iota(batch.begin(), batch.end(), static_cast<std::uint32_t>(first));
    // Batches are full: in the last one, the rows left over are for the first sample again.
    std::fill(batch.begin() + static_cast<std::ptrdiff_t>(count), batch.end(), 0U);
    dataset.gather(std::span<const std::uint32_t>(batch), predictor.features());
    predictor.predict(classes.data());
    const std::vector<T> raw = predictor.outputs();
    const auto width = static_cast<std::ptrdiff_t>(raw.size() / rows);
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = raw.begin() + static_cast<std::ptrdiff_t>(i) * width;
      const std::vector<double> outputs(begin, begin + width);
      if (!std::all_of(outputs.begin(), outputs.end(), [](double x) { return std::isfinite(x); })) {
        throw Error("the outputs of the network for sample " + std::to_string(batch[i]) +
                    " of the data set are not finite");
      }
      answers.push_back(
          {.sample = batch[i], .label = {}, .predicted = classes[i], .scores = scores_of(outputs, model)});
    }
  }
  return answers;
}

std::vector<MistakeReport> SharedAnswers::mistakes(std::span<const std::int32_t> labels, Index most) const {
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (classes[i] != labels[i]) wrong.push_back(i);
  }
  std::stable_sort(wrong.begin(), wrong.end(),
                   [&](std::size_t a, std::size_t b) { return confidences[a] > confidences[b]; });
  if (std::ssize(wrong) > most) wrong.resize(static_cast<std::size_t>(most));
  std::vector<MistakeReport> mistakes;
  for (const std::size_t i : wrong) {
    mistakes.push_back({static_cast<Index>(i), labels[i], classes[i], confidences[i], {}});
  }
  return mistakes;
}

SharedAnswers gather(const std::vector<PredictionReport>& own, Ranks& ranks) {
  std::vector<double> classes;
  std::vector<double> confidences;
  for (const PredictionReport& answer : own) {
    classes.push_back(static_cast<double>(answer.predicted));
    confidences.push_back(answer.scores[static_cast<std::size_t>(answer.predicted)]);
  }
  classes = ranks.gather(classes);
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

std::string name_of_score(const ModelOptions& model) { return are_probabilities(model) ? "probability" : "output"; }

template std::vector<PredictionReport> answers_to(const Dataset&, Network<float>&, const ModelOptions&);
template std::vector<PredictionReport> answers_to(const Dataset&, Network<double>&, const ModelOptions&);

}  // namespace stagewise

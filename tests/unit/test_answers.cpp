// What a network answers, and how often it is right.

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/serial_executor.hpp"
#include "cli/answer_tables.hpp"
#include "cli/answers.hpp"
#include "cli/drawing.hpp"
#include "data/generators.hpp"
#include "support.hpp"
#include "training/evaluate.hpp"
#include "training/parameters.hpp"

namespace stagewise {
namespace {

Dataset points(Index count) {
  Random random(5);
  std::vector<double> features;
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < 3 * count; ++i) features.push_back(random.normal());
  for (Index i = 0; i < count; ++i) labels.push_back(static_cast<std::int32_t>(random.below(2)));
  return {{3}, 2, std::move(features), std::move(labels)};
}

ModelOptions small(const std::string& name, LossKind loss) {
  ModelOptions options;
  options.name = name;
  options.hidden = {4};
  options.loss = loss;
  options.sample = {3};
  options.classes = 2;
  return options;
}

Network<double> network_of(const ModelOptions& options, Index rows) {
  Network<double> network(build_model(options), std::make_unique<SerialExecutor<double>>());
  network.load(rows);
  std::vector<ParameterValues> parameters = copy_parameters_out(network);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].values = random_values<double>(std::ssize(parameters[i].values), i);
  }
  copy_parameters_in(network, parameters, "the test");
  return network;
}

TEST(Answers, AreProbabilitiesAfterACrossEntropy) {
  const ModelOptions options = small("mlp", LossKind::cross_entropy);
  const Dataset data = points(23);
  Network<double> network = network_of(options, 5);
  const std::vector<PredictionReport> answers = answers_to(data, network, options);
  ASSERT_EQ(answers.size(), 23U);
  Ranks alone;
  const SharedAnswers shared = gather(answers, alone);
  double loss = 0;
  for (std::size_t i = 0; i < 23; ++i) {
    EXPECT_EQ(answers[i].sample, static_cast<Index>(i));
    EXPECT_EQ(shared.classes[i], answers[i].predicted);
    EXPECT_EQ(shared.confidences[i], std::max(answers[i].scores[0], answers[i].scores[1]));
    const std::vector<double>& scores = answers[i].scores;
    ASSERT_EQ(scores.size(), 2U);
    EXPECT_NEAR(scores[0] + scores[1], 1, 1e-15);
    EXPECT_EQ(answers[i].predicted, scores[1] > scores[0] ? 1 : 0);
    loss -= std::log(scores[static_cast<std::size_t>(data.labels()[i])]) / 23;
  }
  EXPECT_NEAR(evaluate(network, data).loss, loss, 1e-14);
}

TEST(Answers, AreOutputsAfterASquaredError) {
  const ModelOptions options = small("mlp", LossKind::squared_error);
  const Dataset data = points(7);
  Network<double> network = network_of(options, 7);
  const std::vector<PredictionReport> answers = answers_to(data, network, options);
  double loss = 0;
  for (std::size_t i = 0; i < 7; ++i) {
    for (int c = 0; c < 2; ++c) {
      const double wanted = data.labels()[i] == c ? 1 : 0;
      loss += std::pow(answers[i].scores[static_cast<std::size_t>(c)] - wanted, 2);
    }
  }
  const double reported = 7 * evaluate(network, data).loss;
  EXPECT_TRUE(std::abs(reported - loss) < 1e-13 || std::abs(2 * reported - loss) < 1e-13);
  EXPECT_EQ(name_of_score(options), "output");
}

TEST(Answers, OfANeuronAreTwoProbabilities) {
  const ModelOptions options = small("neuron", LossKind::squared_error);
  const Dataset data = points(9);
  Network<double> network = network_of(options, 4);
  const std::vector<PredictionReport> answers = answers_to(data, network, options);
  for (const PredictionReport& answer : answers) {
    EXPECT_NEAR(answer.scores[0] + answer.scores[1], 1, 1e-15);
    EXPECT_EQ(answer.predicted, answer.scores[1] >= 0.5 ? 1 : 0);
  }
  EXPECT_EQ(name_of_score(options), "probability");
}

TEST(Answers, ThatAreNotFiniteAreRefused) {
  const ModelOptions options = small("mlp", LossKind::cross_entropy);
  Network<double> network = network_of(options, 2);
  const Dataset data({3}, 2, std::vector<double>{1, 1, 1, 1e308, 1e308, 1e308, 1, 1, 1}, {0, 1, 0});
  std::vector<ParameterValues> parameters = copy_parameters_out(network);
  for (double& value : parameters[0].values) value = 1e3;
  copy_parameters_in(network, parameters, "the test");
  EXPECT_EQ(sentence_of([&] { answers_to(data, network, options); }),
            "the outputs of the network for sample 1 of the data set are not finite");
}

TEST(SharedAnswers, PutTheMostConfidentMistakesFirst) {
  const SharedAnswers answers = {{1, 0, 2, 2, 1, 0}, {0.5, 0.9, 0.7, 0.99, 0.9, 0.7}};
  const std::vector<std::int32_t> labels = {1, 1, 0, 2, 0, 1};
  const std::vector<MistakeReport> mistakes = answers.mistakes(labels, 3);
  ASSERT_EQ(mistakes.size(), 3U);
  EXPECT_EQ(mistakes[0].sample, 1);
  EXPECT_EQ(mistakes[1].sample, 4) << "as confident, but later";
  EXPECT_EQ(mistakes[2].sample, 2);
  EXPECT_EQ(mistakes[2].label, 0);
  EXPECT_EQ(mistakes[2].predicted, 2);
  EXPECT_EQ(mistakes[2].confidence, 0.7);
  EXPECT_EQ(answers.mistakes(labels, 100).size(), 4U);
}

TEST(Confusion, CountsAndDivides) {
  const std::vector<std::int32_t> labels = {0, 0, 0, 1, 1, 2};
  const std::vector<std::int32_t> answers = {0, 0, 1, 1, 0, 1};
  const ConfusionReport confusion = confusion_of(4, labels, answers);
  EXPECT_EQ(confusion.counts,
            (std::vector<std::vector<std::int64_t>>{{2, 1, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}}));
  using Fractions = std::vector<std::optional<double>>;
  const std::nullopt_t none = std::nullopt;  // no answer is 2, and no sample is of class 3
  EXPECT_EQ(confusion.precision, (Fractions{2.0 / 3, 1.0 / 3, none, none}));
  EXPECT_EQ(confusion.recall, (Fractions{2.0 / 3, 0.5, 0, none}));
  EXPECT_EQ(csv_of(confusion, {"a", "b, c", "d\nd", ""}),
            "label,a,\"b, c\",\"d\nd\",\na,2,1,0,0\n\"b, c\",1,1,0,0\n\"d\nd\",0,1,0,0\n,0,0,0,0\n");
}

TEST(Predictions, BecomeCsv) {
  const Predictions predictions = {
      .samples = {{0, 1, 1, {0.25, 0.75}}, {1, 1, 0, {1, 0}}}, .names = {"no", "\"yes\""}, .score = "probability"};
  EXPECT_EQ(csv_of(predictions),
            "sample,label,predicted,probability no,\"probability \"\"yes\"\"\"\n"
            "0,\"\"\"yes\"\"\",\"\"\"yes\"\"\",0.25,0.75\n1,\"\"\"yes\"\"\",no,1,0\n");
}

// -----------------------------------------------------------------------------------------
// drawings

TEST(Drawing, ShowsTwoRowsInALine) {
  const Dataset image({3, 2, 1}, 2, std::vector<std::uint8_t>{0, 255, 255, 255, 0, 128}, {0});
  EXPECT_EQ(draw(shown_image(image, 0), 80), (std::vector<std::string>{"+@", " +"}));
  const Dataset colours({1, 2, 3}, 2, std::vector<std::uint8_t>{255, 0, 0, 255, 255, 255}, {0});
  EXPECT_EQ(draw(shown_image(colours, 0), 80)[0], "-@") << "the mean of colours";
  const Dataset values({1, 3, 1}, 2, std::vector<double>{-1, 0, 1}, {0});
  EXPECT_EQ(draw(shown_image(values, 0), 80)[0], " +@") << "values that are no brightness are stretched";
}

TEST(Drawing, ShrinksWhatIsTooWide) {
  const Dataset image({100, 90, 1}, 2, std::vector<std::uint8_t>(9000, 255), {0});
  const Drawing drawing = draw(shown_image(image, 0), 40);
  EXPECT_EQ(drawing[0].size(), 30U);
  EXPECT_EQ(drawing.size(), 17U);
  for (const std::string& line : drawing) EXPECT_EQ(line, std::string(30, '@'));
}

TEST(Drawing, IsAlsoAnImageInFullSize) {
  const Dataset grey({1, 3, 1}, 2, std::vector<double>{-1, 0, 1, 0.25, 1, 0}, {0, 1});
  EXPECT_EQ(shown_image(grey, 0).pixels, (std::vector<std::uint8_t>{0, 128, 255}));
  EXPECT_EQ(shown_image(grey, 1).pixels, (std::vector<std::uint8_t>{64, 255, 0}));
  EXPECT_EQ(shown_image(grey, 1).channels, 1);

  const std::vector<std::uint8_t> bytes = {255, 0, 7, 0, 255, 51};
  const Image colours = shown_image(Dataset({2, 1, 3}, 2, bytes, {0}), 0);
  EXPECT_EQ(colours.pixels, bytes);
  EXPECT_EQ(colours.height, 2);
  EXPECT_EQ(colours.width, 1);
  EXPECT_EQ(colours.channels, 3);

  const Image first = shown_image(Dataset({1, 3, 2}, 2, bytes, {0}), 0);
  EXPECT_EQ(first.pixels, (std::vector<std::uint8_t>{255, 7, 255})) << "of two channels";
}

}  // namespace
}  // namespace stagewise

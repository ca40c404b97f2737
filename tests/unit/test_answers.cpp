// What a network answers, and how often it is right.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "01_serial/serial_executor.hpp"
#include "app/answers.hpp"
#include "app/confusion.hpp"
#include "app/drawing.hpp"
#include "app/predictions.hpp"
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
  const Answers answers = answers_to(data, network, options);
  ASSERT_EQ(answers.classes.size(), 23U);
  ASSERT_EQ(answers.scores.size(), 46U);
  double loss = 0;
  for (Index i = 0; i < 23; ++i) {
    const std::span<const double> scores = answers.scores_of(i);
    EXPECT_NEAR(scores[0] + scores[1], 1, 1e-15);
    const std::int32_t answer = answers.classes[static_cast<std::size_t>(i)];
    EXPECT_EQ(answer, scores[1] > scores[0] ? 1 : 0);
    EXPECT_EQ(answers.confidence(i), std::max(scores[0], scores[1]));
    const std::int32_t label = data.labels()[static_cast<std::size_t>(i)];
    loss -= std::log(scores[static_cast<std::size_t>(label)]) / 23;
  }
  EXPECT_NEAR(evaluate(network, data).loss, loss, 1e-14);
}

TEST(Answers, AreOutputsAfterASquaredError) {
  const ModelOptions options = small("mlp", LossKind::squared_error);
  const Dataset data = points(7);
  Network<double> network = network_of(options, 7);
  const Answers answers = answers_to(data, network, options);
  double loss = 0;
  for (Index i = 0; i < 7; ++i) {
    for (int c = 0; c < 2; ++c) {
      const double wanted = data.labels()[static_cast<std::size_t>(i)] == c ? 1 : 0;
      loss += std::pow(answers.scores_of(i)[static_cast<std::size_t>(c)] - wanted, 2);
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
  const Answers answers = answers_to(data, network, options);
  for (Index i = 0; i < 9; ++i) {
    const std::span<const double> scores = answers.scores_of(i);
    EXPECT_NEAR(scores[0] + scores[1], 1, 1e-15);
    EXPECT_EQ(answers.classes[static_cast<std::size_t>(i)], scores[1] >= 0.5 ? 1 : 0);
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
  const std::vector<Mistake> mistakes = answers.mistakes(labels, 3);
  ASSERT_EQ(mistakes.size(), 3U);
  EXPECT_EQ(mistakes[0].sample, 1);
  EXPECT_EQ(mistakes[1].sample, 4) << "as confident, but later";
  EXPECT_EQ(mistakes[2].sample, 2);
  EXPECT_EQ(mistakes[2].label, 0);
  EXPECT_EQ(mistakes[2].answer, 2);
  EXPECT_EQ(mistakes[2].confidence, 0.7);
  EXPECT_EQ(answers.mistakes(labels, 100).size(), 4U);
}

TEST(Confusion, CountsAndDivides) {
  const std::vector<std::int32_t> labels = {0, 0, 0, 1, 1, 2};
  const std::vector<std::int32_t> answers = {0, 0, 1, 1, 0, 1};
  const Confusion confusion(4, labels, answers);
  EXPECT_EQ(confusion.count(0, 0), 2);
  EXPECT_EQ(confusion.count(0, 1), 1);
  EXPECT_EQ(confusion.count(1, 0), 1);
  EXPECT_EQ(confusion.count(2, 1), 1);
  EXPECT_EQ(confusion.count(2, 2), 0);
  EXPECT_EQ(confusion.samples(0), 3);
  EXPECT_EQ(confusion.precision(0), 2.0 / 3);
  EXPECT_EQ(confusion.recall(0), 2.0 / 3);
  EXPECT_EQ(confusion.precision(1), 1.0 / 3);
  EXPECT_EQ(confusion.recall(1), 0.5);
  EXPECT_EQ(confusion.precision(2), std::nullopt) << "no answer is 2";
  EXPECT_EQ(confusion.recall(2), 0);
  EXPECT_EQ(confusion.recall(3), std::nullopt) << "no sample is of class 3";
  EXPECT_EQ(
      csv_of(confusion, {"a", "b, c", "d\nd", ""}),
      "label,a,\"b, c\",\"d\nd\",\na,2,1,0,0\n\"b, c\",1,1,0,0\n\"d\nd\",0,1,0,0\n,0,0,0,0\n");
}

TEST(Predictions, BecomeCsv) {
  const Predictions predictions = {
      .answers = {.classes = {1, 0}, .scores = {0.25, 0.75, 1, 0}, .width = 2},
      .labels = {1, 1},
      .first = 0,
      .names = {"no", "\"yes\""},
      .score = "probability"};
  EXPECT_EQ(csv_of(predictions),
            "sample,label,predicted,probability no,\"probability \"\"yes\"\"\"\n"
            "0,\"\"\"yes\"\"\",\"\"\"yes\"\"\",0.25,0.75\n1,\"\"\"yes\"\"\",no,1,0\n");
}

// -----------------------------------------------------------------------------------------
// drawings

TEST(Drawing, ShowsTwoRowsInALine) {
  const Dataset image({3, 2, 1}, 2, std::vector<std::uint8_t>{0, 255, 255, 255, 0, 128}, {0});
  const Drawing drawing = draw(image, 0, 80);
  EXPECT_EQ(drawing.lines, (std::vector<std::string>{"+@", " +"}));
  EXPECT_EQ(drawing.width, 2U);
  const Dataset colours({1, 2, 3}, 2, std::vector<std::uint8_t>{255, 0, 0, 255, 255, 255}, {0});
  EXPECT_EQ(draw(colours, 0, 80).lines[0], "-@") << "the mean of colours";
  const Dataset values({1, 3, 1}, 2, std::vector<double>{-1, 0, 1}, {0});
  EXPECT_EQ(draw(values, 0, 80).lines[0], " +@") << "values that are no brightness are stretched";
}

TEST(Drawing, ShrinksWhatIsTooWide) {
  const Dataset image({100, 90, 1}, 2, std::vector<std::uint8_t>(9000, 255), {0});
  const Drawing drawing = draw(image, 0, 40);
  EXPECT_EQ(drawing.width, 30U);
  EXPECT_EQ(drawing.lines.size(), 17U);
  for (const std::string& line : drawing.lines) EXPECT_EQ(line, std::string(30, '@'));
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

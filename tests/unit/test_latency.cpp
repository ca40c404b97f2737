/// @file
/// Latencies: what is measured, how it is summed up, and that only right answers count.

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/latency.hpp"
#include "data/generators.hpp"
#include "network/initialize.hpp"
#include "tensor/error.hpp"
#include "training/parameters.hpp"
#include "unit/allocation_counter.hpp"
#include "unit/observed_executor.hpp"

namespace stagewise {
namespace {

constexpr Index samples = 53;

Dataset make_data() {
  return make_gaussian({.features = 6, .classes = 4, .spacing = 0.5}, samples, 1, Purpose::test_data);
}

/// A relu network would start as the zero function.
ModelOptions make_model() { return {.hidden = {9, 5}, .activation = Activation::sigmoid, .sample = {6}, .classes = 4}; }

/// Takes a given time for each answer, and tells its class.
class Pretender final : public Predictor<float> {
 public:
  explicit Pretender(std::string name, Index rows = 1)
      : name_(std::move(name)), rows_(rows), features_(static_cast<std::size_t>(6 * rows)) {}

  std::string name() const override { return name_; }
  Index rows() const override { return rows_; }
  float* features() override { return features_.data(); }

  void predict(std::int32_t* classes) override {
    const auto start = std::chrono::steady_clock::now();
    std::fill_n(classes, rows_, 0);
    ++calls;
    const auto wanted = std::chrono::milliseconds(slow_every > 0 && calls % slow_every == 0 ? 2 : 0);
    while (std::chrono::steady_clock::now() - start < wanted) continue;
  }

  Index calls = 0;
  Index slow_every = 0;  ///< 0: never

 private:
  std::string name_;
  Index rows_;
  std::vector<float> features_;
};

TEST(Percentile, IsTheValueThatSoManyDoNotExceed) {
  std::vector<double> sorted;
  for (int i = 1; i <= 200; ++i) sorted.push_back(i);
  EXPECT_EQ(percentile(sorted, 0.5), 100);
  EXPECT_EQ(percentile(sorted, 0.95), 190);
  EXPECT_EQ(percentile(sorted, 0.99), 198);
  EXPECT_EQ(percentile(sorted, 0.991), 199);
  EXPECT_EQ(percentile(sorted, 1), 200);
  EXPECT_EQ(percentile(sorted, 1e-9), 1);
  EXPECT_EQ(percentile({1, 2, 3}, 0.5), 2);
  EXPECT_EQ(percentile({1, 2, 3, 4, 5}, 0.95), 5);
  EXPECT_EQ(percentile({7}, 0.99), 7);
}

TEST(MeasureLatency, TellsTheUsualFromTheSlow) {
  Pretender predictor("pretender");
  predictor.slow_every = 25;  // 4 % of the answers
  const LatencyReport latency = measure_latency(predictor, make_data());
  EXPECT_EQ(latency.path, "pretender");
  EXPECT_EQ(latency.samples, 200);
  EXPECT_GT(latency.median_seconds, 0);
  EXPECT_EQ(predictor.calls, 220);  // 20 to warm up
  EXPECT_LT(latency.median_seconds, 0.002);
  EXPECT_GE(latency.p99_seconds, 0.002);
  EXPECT_LE(latency.median_seconds, latency.p95_seconds);
  EXPECT_LE(latency.p95_seconds, latency.p99_seconds);
}

TEST(MeasureLatency, NeedsAFullBatch) {
  Pretender predictor("pretender", samples + 1);
  EXPECT_THROW(measure_latency(predictor, make_data()), Error);
  Pretender fitting("pretender", samples);
  EXPECT_EQ(measure_latency(fitting, make_data()).samples, 200);
}

/// How many predictors there are, and the fewest that there were during a prediction.
struct Alive {
  int now = 0;
  int fewest = 0;
};

/// Answers as the network does, but for one sample of the data set.
class Other final : public Predictor<double> {
 public:
  Other(std::string name, Network<double>& network, Alive& alive)
      : name_(std::move(name)), eager_(network), alive_(&alive) {
    ++alive_->now;
  }
  ~Other() override { --alive_->now; }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  std::string name() const override { return name_; }
  Index rows() const override { return eager_.rows(); }
  double* features() override { return eager_.features(); }

  void predict(std::int32_t* classes) override {
    eager_.predict(classes);
    alive_->fewest = std::min(alive_->fewest, alive_->now);
    if (seen_++ == wrong_sample) classes[0] = (classes[0] + 1) % 4;
  }

  Index wrong_sample = -1;  ///< -1: none

 private:
  std::string name_;
  EagerPredictor<double> eager_;
  Alive* alive_;
  Index seen_ = 0;
};

class MeasureLatencies : public testing::Test {
 protected:
  MeasureLatencies() { copy_parameters_in(network_, initial_parameters(network_.model, make_model(), 1), "the start"); }

  std::vector<LatencyReport> measure(Index wrong_sample) {
    std::vector<std::unique_ptr<Predictor<double>>> others;
    for (const char* const name : {"second", "third"}) {
      auto other = std::make_unique<Other>(name, network_, alive_);
      other->wrong_sample = wrong_sample;
      others.push_back(std::move(other));
    }
    alive_.fewest = alive_.now;
    return measure_latencies(std::make_unique<EagerPredictor<double>>(network_), std::move(others), make_data());
  }

  Network<double> network_ = make_network<double>(make_model(), 1);
  Alive alive_;
};

TEST_F(MeasureLatencies, HaveARowForEachPathWhichIsThenGivenBack) {
  const std::vector<LatencyReport> reports = measure(-1);
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[0].path, "eager");
  EXPECT_EQ(reports[1].path, "second");
  EXPECT_EQ(reports[2].path, "third");
  for (const LatencyReport& report : reports) EXPECT_EQ(report.samples, 200);
  EXPECT_EQ(alive_.fewest, 1);  // the third's measurement
  EXPECT_EQ(alive_.now, 0);
}

TEST_F(MeasureLatencies, RefuseWrongAnswers) {
  const std::string sentence = sentence_of([&] { measure(17); });
  EXPECT_TRUE(
      sentence.starts_with("the latency of the path second is not measured, since its answers are wrong: sample 17 of "
                           "the data set is of class "))
      << sentence;
  EXPECT_TRUE(sentence.ends_with(" on the path eager")) << sentence;
  EXPECT_EQ(alive_.now, 0);
}

TEST_F(MeasureLatencies, AcceptEitherOfTwoClassesThatRoundingDecidesBetween) {
  std::vector<ParameterValues> values = copy_parameters_out(network_);
  for (ParameterValues& parameter : values) {
    std::fill(parameter.values.begin(), parameter.values.end(), 0);
  }
  values.back().values = {1e5, 1e5 + 9e-6, 1e5, 1e5};  // the bias of the outputs
  copy_parameters_in(network_, values, "the test");
  EXPECT_EQ(measure(17).size(), 3U);

  values.back().values[1] = 1e5 + 2e-5;
  copy_parameters_in(network_, values, "the test");
  EXPECT_THROW(measure(17), Error);
}

TEST(EagerPredictor, AnswersAsTheEvaluationDoesWhereverItsInputWas) {
  for (const bool is_far : {false, true}) {
    auto own = std::make_unique<ObservedExecutor<double>>();
    ObservedExecutor<double>& executor = *own;
    executor.is_far = is_far;
    Network<double> network = make_network<double>(make_model(), 5, std::move(own));
    const Model& model = network.model;
    copy_parameters_in(network, initial_parameters(model, make_model(), 1), "the start");
    const Dataset data = make_data();
    const std::vector<std::uint32_t> batch = {3, 1, 4, 15, 9};
    executor.read_from(data, batch);
    executor.execute(network.evaluation, {.rows = 5});
    const auto* const found = executor.data<std::int32_t>(model.classes);
    const std::vector<std::int32_t> expected(found, found + 5);
    const double* const outputs = executor.data(model.outputs);
    const std::vector<double> expected_outputs(outputs, outputs + std::size_t{5} * 4);
    executor.execute(network.evaluation, {.first = 4, .rows = 1});
    std::vector<double> elsewhere(30);
    executor.bind(model.batch, elsewhere.data());

    EagerPredictor<double> predictor(network);
    EXPECT_EQ(predictor.features() == executor.data(model.batch), !is_far);
    data.gather(std::span(batch), predictor.features());
    std::vector<std::int32_t> classes(5, -1);
    const std::int64_t allocations = allocations_so_far();
    predictor.predict(classes.data());
    EXPECT_EQ(allocations_so_far(), allocations);
    EXPECT_EQ(classes, expected);
    EXPECT_EQ(predictor.outputs(), expected_outputs);
  }
}

}  // namespace
}  // namespace stagewise

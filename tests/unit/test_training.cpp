/// @file
/// The loop over epochs and minibatches: reproducible, resumable, thrifty, and loud about NaN.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "network/initialize.hpp"
#include "support.hpp"
#include "tensor/error.hpp"
#include "tensor/random.hpp"
#include "training/evaluate.hpp"
#include "training/not_finite.hpp"
#include "training/parameters.hpp"
#include "training/trainer.hpp"
#include "unit/allocation_counter.hpp"
#include "unit/observed_executor.hpp"

namespace stagewise {
namespace {

constexpr Index samples = 53;
constexpr Index batch_size = 10;  // five batches and a short one of 3
constexpr Index steps_per_epoch = 6;
constexpr int classes = 4;
const Shape sample_shape{3, 2, 1};

/// Points around one centre a class, so that there is something to learn.
Dataset make_data(Index count = samples, std::uint64_t seed = 1) {
  Random centre_random(7);
  std::vector<double> centres(static_cast<std::size_t>(classes * sample_shape.elements()));
  for (double& value : centres) value = centre_random.normal();
  Random random(seed, Purpose::test, 1);
  std::vector<double> features;
  std::vector<std::int32_t> labels;
  for (Index i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(random.below(classes)));
    for (Index j = 0; j < sample_shape.elements(); ++j) {
      const auto at = static_cast<std::size_t>(labels.back() * sample_shape.elements() + j);
      features.push_back(centres[at] + 0.5 * random.normal());
    }
  }
  return {sample_shape, classes, std::move(features), std::move(labels)};
}

ModelOptions make_model() {
  return {.hidden = {9, 5}, .sample = sample_shape, .classes = classes};
}

TrainingOptions make_options(std::int64_t epochs) {
  return {.batch_size = batch_size,
          .epochs = epochs,
          .sgd = {.learning_rate = 0.1, .l2 = 0.001},
          .seed = 5};
}

/// With momentum or Adam, and a rate that is another one in every step of six epochs.
std::vector<TrainingOptions> make_options_with_state(std::int64_t epochs) {
  std::vector<TrainingOptions> all(2, make_options(epochs));
  all[0].sgd.rule = Rule::momentum;
  all[1].sgd.rule = Rule::adam;
  for (TrainingOptions& options : all) {
    options.sgd.schedule = {.decay = Decay::cosine, .warmup = 8, .steps = 36};
  }
  return all;
}

/// Remembers everything that it is told.
class Recorder final : public TrainingObserver {
 public:
  void on_step(std::int64_t epoch, Index done) override { steps.emplace_back(epoch, done); }
  void on_log(const StepReport& report) override { logs.push_back(report); }
  void on_epoch(const EpochReport& report, std::int64_t step_count,
                const std::vector<ParameterValues>& values) override {
    reports.push_back(report);
    steps_at_epoch.push_back(step_count);
    parameters = values;
  }

  std::vector<std::pair<std::int64_t, Index>> steps;
  std::vector<StepReport> logs;
  std::vector<EpochReport> reports;
  std::vector<std::int64_t> steps_at_epoch;
  std::vector<ParameterValues> parameters;
};

/// Whose memory the host cannot follow pointers into, as far as the trainer knows.
template <typename T>
std::unique_ptr<ObservedExecutor<T>> make_far_executor(
    serial::GemmVariant variant = serial::GemmVariant::reordered) {
  auto executor = std::make_unique<ObservedExecutor<T>>(variant);
  executor->is_far = true;
  return executor;
}

/// Steps from given parameters on.
template <typename T>
ProgramStep<T> make_step(Network<T>& network, const Dataset& data, const Sgd& sgd,
                         const std::vector<ParameterValues>& start, std::int64_t steps_done = 0) {
  return {{.network = network,
           .training_set = data,
           .max_rows = network.executor->max_rows(),
           .steps_done = steps_done},
          build_training(network.model, sgd, {}),
          {start}};
}

/// A network, and everything that a training of it needs.
template <typename T>
struct Training {
  explicit Training(
      const TrainingOptions& training_options = make_options(3),
      std::unique_ptr<ObservedExecutor<T>> own = std::make_unique<ObservedExecutor<T>>(),
      std::int64_t steps_done = 0)
      : options(training_options),
        executor(own.get()),
        network(make_network<T>(make_model(), options.batch_size, std::move(own))),
        step(make_step(network, data, options.sgd,
                       initial_parameters(network.model, make_model(), options.seed), steps_done)) {
  }
  Training(const TrainingOptions& training_options, std::int64_t steps_done)
      : Training(training_options, std::make_unique<ObservedExecutor<T>>(), steps_done) {}

  void run(std::int64_t first_epoch = 1) {
    train(network, step, data, validation, options, first_epoch, recorder);
  }

  Dataset data = make_data();
  Dataset validation;
  TrainingOptions options;
  ObservedExecutor<T>* executor;
  Network<T> network;
  ProgramStep<T> step;
  Recorder recorder;
};

/// Not close, but the same: every bit of every value.
void expect_identical(const std::vector<ParameterValues>& a,
                      const std::vector<ParameterValues>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    ASSERT_EQ(a[i].values.size(), b[i].values.size());
    EXPECT_EQ(
        std::memcmp(a[i].values.data(), b[i].values.data(), a[i].values.size() * sizeof(double)), 0)
        << a[i].name << " differs";
  }
}

void expect_identical(const std::vector<EpochReport>& a, const std::vector<EpochReport>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].epoch, b[i].epoch);
    EXPECT_EQ(a[i].train_loss, b[i].train_loss);
    EXPECT_EQ(a[i].train_accuracy, b[i].train_accuracy);
  }
}

// ------------------------------------------------------------------------------- order of samples

TEST(OrderOfEpoch, IsAPermutation) {
  for (const Index count : {0, 1, 2, 53, 1000}) {
    std::vector<std::uint32_t> order = {99, 98};  // left over from something else
    order_of_epoch(count, 3, 1, true, order);
    ASSERT_EQ(order.size(), static_cast<std::size_t>(count));
    const std::set<std::uint32_t> distinct(order.begin(), order.end());
    EXPECT_EQ(distinct.size(), order.size());
    EXPECT_TRUE(distinct.empty() || *distinct.rbegin() == count - 1);
  }
}

TEST(OrderOfEpoch, DependsOnSeedAndEpochOnly) {
  const auto order = [](std::uint64_t seed, std::int64_t epoch) {
    std::vector<std::uint32_t> result;
    order_of_epoch(53, seed, epoch, true, result);
    return result;
  };
  EXPECT_EQ(order(3, 1), order(3, 1));
  EXPECT_NE(order(3, 1), order(4, 1));
  EXPECT_NE(order(3, 1), order(3, 2));
  EXPECT_NE(order(3, 2), order(2, 3));
}

TEST(OrderOfEpoch, IsTheDatasOwnWithoutShuffling) {
  std::vector<std::uint32_t> order;
  order_of_epoch(7, 3, 1, false, order);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}));
}

// ----------------------------------------------------------------------------------- the training

TEST(Train, LearnsAndReports) {
  Training<double> training(make_options(20));
  training.validation = make_data(31, 2);
  training.run();

  const std::vector<EpochReport>& reports = training.recorder.reports;
  ASSERT_EQ(reports.size(), 20U);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].epoch, static_cast<std::int64_t>(i) + 1);
    EXPECT_GT(reports[i].seconds, 0);
    EXPECT_NEAR(reports[i].images_per_second, samples / reports[i].seconds,
                1e-6 * samples / reports[i].seconds);
    EXPECT_EQ(training.recorder.steps_at_epoch[i], reports[i].epoch * steps_per_epoch);
  }
  EXPECT_LT(reports.back().train_loss, reports.front().train_loss / 2);
  EXPECT_GT(reports.back().train_accuracy, 0.8);

  const Evaluation evaluation = evaluate(training.network, training.validation);
  ASSERT_TRUE(reports.back().validation_loss.has_value());
  EXPECT_EQ(*reports.back().validation_loss, evaluation.loss);
  EXPECT_EQ(*reports.back().validation_accuracy, evaluation.accuracy);
}

TEST(Train, TellsOfEveryStep) {
  Training<float> training(make_options(2));
  training.run();
  std::vector<std::pair<std::int64_t, Index>> expected;
  for (const std::int64_t epoch : {1, 2}) {
    for (const Index done : {10, 20, 30, 40, 50, 53}) expected.emplace_back(epoch, done);
  }
  EXPECT_EQ(training.recorder.steps, expected);
  EXPECT_FALSE(training.recorder.reports.back().validation_loss.has_value());
}

TEST(Train, LogsWhatAnEpochIsMadeOf) {
  for (const bool reads_all : {true, false}) {
    TrainingOptions options = make_options(3);
    options.log_every = 4;
    auto executor = std::make_unique<ObservedExecutor<double>>();
    executor->is_far = !reads_all;
    Training<double> training(options, std::move(executor));
    training.run();
    Training<double> silent(make_options(3));
    silent.run();
    expect_identical(training.recorder.parameters, silent.recorder.parameters);
    EXPECT_TRUE(silent.recorder.logs.empty());

    const std::vector<StepReport>& logs = training.recorder.logs;
    ASSERT_EQ(logs.size(), 6U);
    for (std::size_t i = 0; i < 6; i += 2) {  // 40 samples, and the 13 left
      const EpochReport& epoch = training.recorder.reports[i / 2];
      for (const std::size_t j : {i, i + 1}) {
        EXPECT_EQ(logs[j].epoch, epoch.epoch);
        EXPECT_EQ(logs[j].learning_rate, options.sgd.learning_rate);
        EXPECT_GT(logs[j].images_per_second, 0);
      }
      EXPECT_EQ(logs[i].step, 3 * static_cast<std::int64_t>(i) + 4);
      EXPECT_EQ(logs[i + 1].step, 3 * static_cast<std::int64_t>(i) + 6);
      EXPECT_NEAR((40 * logs[i].accuracy + 13 * logs[i + 1].accuracy) / 53, epoch.train_accuracy,
                  1e-14);
      if (options.sgd.l2 == 0) {
        EXPECT_NEAR((40 * logs[i].loss + 13 * logs[i + 1].loss) / 53, epoch.train_loss, 1e-14);
      }
    }
  }
}

template <typename T>
class TrainIn : public testing::Test {};
TYPED_TEST_SUITE(TrainIn, Precisions, PrecisionNames);

TYPED_TEST(TrainIn, RepeatsBitForBit) {
  for (const std::string& variant : serial::gemm_variant_names()) {
    const auto make_executor = [&] {
      return std::make_unique<ObservedExecutor<TypeParam>>(serial::parse_gemm_variant(variant));
    };
    Training<TypeParam> first(make_options(3), make_executor());
    Training<TypeParam> second(make_options(3), make_executor());
    first.run();
    second.run();
    expect_identical(first.recorder.parameters, second.recorder.parameters);
    expect_identical(first.recorder.reports, second.recorder.reports);
  }
}

TYPED_TEST(TrainIn, DependsOnTheSeed) {
  Training<TypeParam> training;
  TrainingOptions other_options = make_options(3);
  other_options.seed = 6;
  Training<TypeParam> other(other_options);
  // The same start, so that only the order of the samples differs.
  copy_parameters_in(other.network, copy_parameters_out(training.network), "the test");
  training.run();
  other.run();
  EXPECT_NE(training.recorder.parameters.front().values, other.recorder.parameters.front().values);
}

TYPED_TEST(TrainIn, ContinuesAsIfItHadNeverStopped) {
  Training<TypeParam> uninterrupted(make_options(5));
  uninterrupted.run();

  Training<TypeParam> before(make_options(3));
  before.run();
  Training<TypeParam> after(make_options(5));
  copy_parameters_in(after.network, before.recorder.parameters, "the checkpoint");
  after.run(4);

  expect_identical(after.recorder.parameters, uninterrupted.recorder.parameters);
  ASSERT_EQ(after.recorder.reports.size(), 2U);
  EXPECT_EQ(after.recorder.reports.back().train_loss,
            uninterrupted.recorder.reports.back().train_loss);
  EXPECT_EQ(after.recorder.steps_at_epoch, (std::vector<std::int64_t>{24, 30}));
}

TYPED_TEST(TrainIn, ContinuesWithTheStateOfItsOptimizer) {
  for (std::size_t i = 0; i < 2; ++i) {
    Training<TypeParam> uninterrupted(make_options_with_state(5)[i]);
    uninterrupted.run();
    Training<TypeParam> before(make_options_with_state(3)[i]);
    before.run();

    const auto state = before.step.optimizer_state();
    EXPECT_EQ(state.size(), (i + 1) * before.network.model.parameters.size());
    const auto arrive = [&](const std::vector<ParameterValues>* from, std::int64_t steps_done) {
      Training<TypeParam> after(make_options_with_state(5)[i], steps_done);
      copy_parameters_in(after.network, before.recorder.parameters, "the checkpoint");
      if (from != nullptr) after.step.set_optimizer_state(*from, "the checkpoint");
      after.run(4);
      return after.recorder.parameters;
    };
    expect_identical(arrive(&state, 18), uninterrupted.recorder.parameters);
    const auto differs = [&](const std::vector<ParameterValues>& other) {
      return other.front().values != uninterrupted.recorder.parameters.front().values;
    };
    EXPECT_TRUE(differs(arrive(nullptr, 18))) << "the state matters";
    EXPECT_TRUE(differs(arrive(&state, 0))) << "and so does the step";

    std::vector<ParameterValues> broken = state;
    broken.back().shape = {1};
    EXPECT_THROW(before.step.set_optimizer_state(broken, "the checkpoint"), Error);
    broken.pop_back();
    EXPECT_THROW(before.step.set_optimizer_state(broken, "the checkpoint"), Error);
  }
}

TEST(Train, LogsTheRateOfEachStep) {
  TrainingOptions options = make_options_with_state(2)[1];
  options.log_every = 1;
  Training<double> training(options);
  training.run();
  ASSERT_EQ(training.recorder.logs.size(), 12U);
  for (const StepReport& report : training.recorder.logs) {
    EXPECT_EQ(report.learning_rate, learning_rate_of(options.sgd, report.step));
  }
  EXPECT_EQ(training.recorder.logs.front().learning_rate, 0.1 / 8);
}

TEST(Train, DoesNothingWhereAllEpochsAreDone) {
  Training<double> training;
  const std::vector<ParameterValues> before = copy_parameters_out(training.network);
  training.run(4);
  expect_identical(copy_parameters_out(training.network), before);
  EXPECT_TRUE(training.recorder.steps.empty());
  EXPECT_TRUE(training.recorder.reports.empty());
}

/// A step on the short last batch, three samples, changes the parameters by the mean of what a step
/// on each of them alone would.
TEST(Train, AveragesAShortBatchOverItsOwnRows) {
  ModelOptions model = make_model();
  model.activation = Activation::sigmoid;  // relu units start as twins, whose gradients cancel
  const Dataset data = make_data();
  std::vector<std::uint32_t> order;
  order_of_epoch(samples, 1, 1, false, order);
  Network<double> network = make_network<double>(model, batch_size);
  const std::vector<ParameterValues> start = initial_parameters(network.model, model, 1);
  const auto after_one_step = [&](Index first, Index rows) {
    ProgramStep<double> step = make_step(network, data, {.learning_rate = 0.5}, start);
    step.begin_epoch(order);
    step.run(first, rows);
    return copy_parameters_out(network);
  };
  const std::vector<ParameterValues> together = after_one_step(50, 3);
  const std::vector<std::vector<ParameterValues>> alone = {
      after_one_step(50, 1), after_one_step(51, 1), after_one_step(52, 1)};

  for (std::size_t i = 0; i < start.size(); ++i) {
    EXPECT_NE(together[i].values, start[i].values) << start[i].name;
    for (std::size_t j = 0; j < start[i].values.size(); ++j) {
      double mean = 0;
      for (const auto& one : alone) mean += one[i].values[j] / 3;
      EXPECT_NEAR(together[i].values[j], mean, 1e-14) << start[i].name;
    }
  }
}

TEST(Train, AddsEveryBatchToTheTotals) {
  TrainingOptions options = make_options(1);
  options.sgd = {.learning_rate = 0, .l2 = 0};  // the network stays as it is
  Training<double> training(options);
  training.run();
  const Evaluation evaluation = evaluate(training.network, training.data);
  const EpochReport& report = training.recorder.reports.front();
  EXPECT_NEAR(report.train_loss, evaluation.loss, 1e-12);
  EXPECT_EQ(report.train_accuracy, evaluation.accuracy);  // a quotient of the same two counts
}

// --------------------------------------------------------------------------------------------- l2

TEST(Train, AppliesL2ToWeightsAndNeverToBiases) {
  constexpr double learning_rate = 0.25;
  constexpr double l2 = 0.5;
  const auto after_one_step = [&](double with_l2) {
    TrainingOptions options = make_options(1);
    options.batch_size = samples;  // one step an epoch
    options.sgd = {.learning_rate = learning_rate, .l2 = with_l2};
    Training<double> training(options);
    // Biases that are 0 would hide a wrong l2.
    std::vector<ParameterValues> start = copy_parameters_out(training.network);
    for (ParameterValues& parameter : start) {
      for (double& value : parameter.values) value += 0.125;
    }
    copy_parameters_in(training.network, start, "the test");
    training.run();
    return std::tuple(start, training.recorder.parameters, training.recorder.reports.front());
  };
  const auto [start, without, report_without] = after_one_step(0);
  const auto [same_start, with, report_with] = after_one_step(l2);

  ASSERT_EQ(with.size(), 6U);
  for (std::size_t i = 0; i < with.size(); ++i) {
    const bool is_bias = with[i].name.ends_with("bias");
    for (std::size_t j = 0; j < with[i].values.size(); ++j) {
      const double decay = is_bias ? 0 : learning_rate * l2 * start[i].values[j];
      EXPECT_NEAR(with[i].values[j], without[i].values[j] - decay, 1e-14) << with[i].name;
    }
  }

  double squares = 0;
  for (const ParameterValues& parameter : with) {
    if (!parameter.name.ends_with("weight")) continue;
    for (const double w : parameter.values) squares += w * w;
  }
  EXPECT_GT(squares, 1);
  EXPECT_NEAR(report_with.train_loss, report_without.train_loss + l2 / 2 * squares, 1e-12);
}

// -------------------------------------------------------------------------------- NaN and infinity

// ------------------------------------------------------------- steps that are done some time later

/// A step whose device is behind: it has done half of what was asked for, and needs a few looks
/// until all is done.
class LateStep final : public Step {
 public:
  explicit LateStep(Step& step) : step_(&step) {}

  void begin_epoch(std::span<const std::uint32_t> order) override {
    if (!prepared.empty()) {
      EXPECT_TRUE(std::ranges::equal(order, prepared));
    }
    step_->begin_epoch(order);
    looks_ = 0;
  }
  void prepare_epoch(std::span<const std::uint32_t> order) override {
    EXPECT_EQ(looks_, 1) << "what is pending should have been launched, and not waited for";
    prepared.assign(order.begin(), order.end());
  }
  void run(Index first, Index rows) override { step_->run(first, rows); }
  Index samples_done(Index asked) const override { return asked / 2 + looks_; }
  bool is_done() override { return ++looks_ > 3; }
  Totals totals() override {
    EXPECT_GT(looks_, 3) << "it was waited for, while it could have been watched";
    return step_->totals();
  }
  void end_epoch() override {
    step_->end_epoch();
    ++ends;
  }
  Samples last_batch() const override { return step_->last_batch(); }

  int ends = 0;
  std::vector<std::uint32_t> prepared;  ///< the order of the next epoch

 private:
  Step* step_;
  Index looks_ = 0;
};

TEST(Train, ShowsWhatIsDoneAndWatchesTheRest) {
  // On others, totals are read after each step.
  Training<double> training(make_options(2), make_far_executor<double>());
  LateStep late(training.step);
  Recorder recorder;
  train(training.network, late, training.data, Dataset(), training.options, 1, recorder);
  std::vector<std::pair<std::int64_t, Index>> expected;
  for (const std::int64_t epoch : {1, 2}) {
    for (const Index asked : {10, 20, 30, 40, 50, 53}) expected.emplace_back(epoch, asked / 2);
    for (const Index looks : {1, 2, 3}) expected.emplace_back(epoch, 53 / 2 + looks);
  }
  EXPECT_EQ(recorder.steps, expected);
  EXPECT_EQ(late.ends, 2);
  EXPECT_EQ(late.prepared.size(), 53U);

  Training<double> prompt(make_options(2));
  prompt.run();
  expect_identical(recorder.parameters, prompt.recorder.parameters);
}

std::string failure_of(Training<float>& training) {
  try {
    training.run();
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

TEST(Train, StopsAtALossThatIsNotFinite) {
  TrainingOptions options = make_options(3);
  options.sgd.learning_rate = 1e30;
  Training<float> training(options);
  const std::string failure = failure_of(training);
  EXPECT_TRUE(failure.find("in epoch 1, step 2") != std::string::npos ||
              failure.find("in epoch 1, step 3") != std::string::npos)
      << failure;
  EXPECT_NE(failure.find("1e+30"), std::string::npos) << failure;
  EXPECT_TRUE(training.recorder.reports.empty());
  EXPECT_LE(training.recorder.steps.size(), 2U) << "training went on";
}

TEST(Train, NamesTheStepAlsoWhereTheHostReadsOnceAnEpoch) {
  TrainingOptions options = make_options(3);
  options.sgd.learning_rate = 1e30;
  Training<float> training(options, make_far_executor<float>());
  Training<float> near(options);
  EXPECT_EQ(failure_of(training), failure_of(near));
  EXPECT_TRUE(training.recorder.reports.empty());
}

TEST(Train, NamesALaterEpoch) {
  Training<float> training;
  training.run();
  ASSERT_EQ(training.recorder.reports.size(), 3U);
  std::vector<ParameterValues> broken = training.recorder.parameters;
  broken.back().values.back() = std::numeric_limits<double>::quiet_NaN();
  copy_parameters_in(training.network, broken, "the test");
  training.options.epochs = 6;
  try {
    training.run(5);
    FAIL() << "no failure";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the loss became NaN in epoch 5, step 1"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(training.recorder.reports.size(), 3U);
}

/// The last step's loss is still finite, but its update is not: no loss shows that.
TEST(Train, StopsAtParametersThatAreNotFinite) {
  for (const bool far : {false, true}) {
    TrainingOptions options = make_options(1);
    options.batch_size = samples;  // one step
    options.sgd.learning_rate = std::numeric_limits<float>::infinity();
    auto executor = std::make_unique<ObservedExecutor<float>>();
    executor->is_far = far;
    Training<float> training(options, std::move(executor));
    const std::string failure = failure_of(training);
    EXPECT_NE(failure.find("became NaN or infinite in epoch 1, step 1"), std::string::npos)
        << failure;
    EXPECT_TRUE(training.recorder.reports.empty());
  }
}

/// Computes one kind of operation wrongly.
std::unique_ptr<ObservedExecutor<float>> make_wrong_executor(bool forward) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto add_bias = [](ObservedExecutor<float>& executor, const AddBias& op) {
    executor.compute(op);
    executor.data(op.y)[0] = nan;
  };
  const auto column_sums = [](ObservedExecutor<float>& executor, const ColumnSums& op) {
    executor.compute(op);
    executor.data(op.y)[0] = nan;
  };
  return std::make_unique<ObservedExecutor<float>>(
      forward ? instead_of<AddBias, float>(add_bias) : instead_of<ColumnSums, float>(column_sums));
}

TEST(Train, AlsoNamesAnOperationThatMayBeWrong) {
  for (const bool forward : {true, false}) {
    Training<float> training(make_options(3), make_wrong_executor(forward));
    try {
      training.run();
      FAIL() << "no failure";
    } catch (const NotFinite& error) {
      const std::string sentence = error.what();
      const std::string begin =
          forward ? "1, and training stopped; that was before the first update, so the learning "
                    "rate is not the cause, but inputs up to "
                  : "2, and training stopped; a learning rate smaller than ";
      const std::string end = forward ? " or an operation that computes wrong numbers may be"
                                      : ", unless an operation computes wrong numbers";
      EXPECT_TRUE(sentence.starts_with("the loss became NaN in epoch 1, step " + begin))
          << sentence;
      EXPECT_TRUE(sentence.ends_with(end)) << sentence;
      EXPECT_TRUE(error.may_be_a_kernel());
    }
  }
  Training<float> training(make_options(3), make_wrong_executor(true));
  try {
    evaluate(training.network, training.data);
    FAIL() << "no failure";
  } catch (const NotFinite& error) {
    EXPECT_TRUE(std::string(error.what())
                    .ends_with(" or an operation that computes wrong numbers may be the cause"))
        << error.what();
  }
}

TEST(Train, BlamesAWeightDecayThatLetsWeightsGrow) {
  TrainingOptions options = make_options(3);
  options.sgd.l2 = 1e30;
  Training<float> training(options);
  const std::string failure = failure_of(training);
  EXPECT_NE(failure.find("times the l2 of 1e+30 is 1e+29"), std::string::npos) << failure;
}

TEST(NotFinite, KnowsTheLargestNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto parameters = [](double value) {
    return std::vector<ParameterValues>{{.name = "fc1/weight", .shape = {2}, .values = {1, -2}},
                                        {.name = "fc1/bias", .shape = {1}, .values = {value}}};
  };
  EXPECT_EQ(largest_parameter(parameters(-1.5)), 2);
  EXPECT_TRUE(std::isinf(largest_parameter(parameters(nan))));
  EXPECT_EQ(largest_input(Dataset(Shape{1}, 1, std::vector<double>{-1e39, 1}, {0, 0})), 1e39);
}

// ------------------------------------------------------------------------------------- evaluation

TEST(Evaluate, CountsWhatIsRight) {
  // No hidden layer, the identity as weights: the network predicts the largest feature.
  const ModelOptions model{.hidden = {}, .sample = Shape{3}, .classes = 3};
  Network<double> network = make_network<double>(model, 2);
  copy_parameters_in(
      network,
      {{.name = "fc1/weight", .shape = {3, 3}, .values = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
       {.name = "fc1/bias", .shape = {3}, .values = {0, 0, 0}}},
      "the test");
  const Dataset data(Shape{3}, 3,
                     std::vector<double>{5, 1, 1,  //
                                         0, 2, 9,  //
                                         3, 8, 1,  //
                                         4, 4, 4,  // a tie: the lowest class
                                         1, 7, 2},
                     {0, 2, 0, 0, 1});
  const Evaluation evaluation = evaluate(network, data);
  EXPECT_EQ(evaluation.correct, 4);
  EXPECT_EQ(evaluation.samples, 5);
  EXPECT_EQ(evaluation.accuracy, 0.8);
}

TEST(Evaluate, HardlyDependsOnTheBatchSize) {
  Training<double> training(make_options(2));
  training.run();
  const Evaluation reference = evaluate(training.network, training.data);
  EXPECT_GT(reference.correct, 0);
  EXPECT_LT(reference.correct, samples);
  for (const Index size : {1, 7, 52, 53, 200}) {
    Network<double> network = make_network<double>(make_model(), size);
    copy_parameters_in(network, training.recorder.parameters, "the test");
    const Evaluation evaluation = evaluate(network, training.data);
    EXPECT_EQ(evaluation.correct, reference.correct) << "batches of " << size;
    EXPECT_EQ(evaluation.samples, samples);
    EXPECT_NEAR(evaluation.loss, reference.loss, 1e-13) << "batches of " << size;
  }
}

TEST(Evaluate, RefusesAnEmptyDataSet) {
  Network<double> network = make_network<double>(make_model(), 4);
  EXPECT_THROW(evaluate(network, make_data().slice(0, 0)), Error);
}

TEST(Evaluate, RefusesALossThatIsNotFinite) {
  Training<double> training;
  std::vector<ParameterValues> values = copy_parameters_out(training.network);
  values.front().values.front() = std::numeric_limits<double>::quiet_NaN();
  copy_parameters_in(training.network, values, "the test");
  EXPECT_THROW(evaluate(training.network, training.data), Error);
}

// ---------------------------------------------------------------------------- memory of the device

TYPED_TEST(TrainIn, ComputesTheSameWhereTheHostMustCopy) {
  Training<TypeParam> near;
  Training<TypeParam> far(make_options(3), make_far_executor<TypeParam>());
  near.validation = make_data(31, 2);
  far.validation = make_data(31, 2);
  near.run();
  far.run();
  // Where reading is free, totals are read after each step, else once an epoch.
  EXPECT_EQ(near.executor->copies_out - far.executor->copies_out, 3 * steps_per_epoch);
  expect_identical(far.recorder.parameters, near.recorder.parameters);
  expect_identical(far.recorder.reports, near.recorder.reports);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(far.recorder.reports[i].validation_loss, near.recorder.reports[i].validation_loss);
  }
}

// ------------------------------------------------------------------------------------ allocations

TEST(AllocationCounter, CountsEveryForm) {
  const auto count = [](const auto& work) {
    const std::int64_t before = allocations_so_far();
    work();
    return allocations_so_far() - before;
  };
  // Through the operators themselves: a compiler may leave out a new and a delete that it sees.
  EXPECT_EQ(count([] { ::operator delete(::operator new(8)); }), 1);
  EXPECT_EQ(count([] { ::operator delete[](::operator new[](8)); }), 1);
  EXPECT_EQ(count([] {
              ::operator delete (::operator new (8, std::align_val_t{64}), std::align_val_t{64});
            }),
            1);
  EXPECT_EQ(count([] { host_memory().release(host_memory().allocate(100, CodeLine::here())); }), 1);
  EXPECT_EQ(count([] { const Tensor<float> tensor(Shape{3, 4}); }), 1);
  EXPECT_EQ(count([] {
              const std::vector<int> values(1000);
              static const int* volatile seen = nullptr;
              seen = values.data();  // or the whole vector might be left out
              EXPECT_NE(seen, nullptr);
            }),
            1);
  EXPECT_EQ(count([] {}), 0);
}

/// Notes, after each step, how much has been allocated so far.
class AllocationWatcher final : public TrainingObserver {
 public:
  AllocationWatcher() { at_step.reserve(1000); }
  void on_step(std::int64_t /*epoch*/, Index /*done*/) override {
    at_step.push_back(allocations_so_far());
  }
  void on_epoch(const EpochReport& /*report*/, std::int64_t /*steps*/,
                const std::vector<ParameterValues>& /*values*/) override {}
  std::vector<std::int64_t> at_step;
};

template <typename T>
void expect_no_allocations(serial::GemmVariant variant, bool is_far, LossKind loss, bool timings) {
  const Dataset data = make_data();
  ModelOptions model = make_model();
  model.loss = loss;
  auto executor = std::make_unique<ObservedExecutor<T>>(variant);
  executor->is_far = is_far;
  Network<T> network = make_network<T>(model, batch_size, std::move(executor));
  if (timings) network.executor->enable_timings();
  const TrainingOptions options = make_options(3);
  ProgramStep<T> step =
      make_step(network, data, options.sgd, initial_parameters(network.model, model, 1));
  AllocationWatcher watcher;
  train(network, step, data, Dataset(), options, 1, watcher);

  ASSERT_EQ(watcher.at_step.size(), std::size_t{3} * steps_per_epoch);
  for (std::size_t i = 1; i < watcher.at_step.size(); ++i) {
    // Between epochs, the parameters are copied out for the observer.
    if (static_cast<Index>(i) % steps_per_epoch == 0) continue;
    EXPECT_EQ(watcher.at_step[i] - watcher.at_step[i - 1], 0) << "in step " << i + 1;
  }
}

TYPED_TEST(TrainIn, AllocatesNothingInAStep) {
  for (const std::string& name : serial::gemm_variant_names()) {
    SCOPED_TRACE(name);
    const serial::GemmVariant variant = serial::parse_gemm_variant(name);
    for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared_error}) {
      expect_no_allocations<TypeParam>(variant, false, loss, false);
      expect_no_allocations<TypeParam>(variant, false, loss, true);
      expect_no_allocations<TypeParam>(variant, true, loss, false);
    }
  }
}

}  // namespace
}  // namespace stagewise

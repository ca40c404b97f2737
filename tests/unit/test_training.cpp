/// @file
/// The loop over epochs and minibatches: reproducible, resumable, thrifty, and loud about NaN;
/// alone and with workers.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "network/initialize.hpp"
#include "support.hpp"
#include "tensor/random.hpp"
#include "training/evaluate.hpp"
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
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Points around one centre a class, so that there is something to learn.
Dataset make_data(Index count = samples, std::uint64_t seed = 1) {
  const auto centres = random_values<double>(classes * sample_shape.elements(), 7, -2, 2);
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

ModelOptions make_model(Activation activation = Activation::relu) {
  return {.hidden = {9, 5}, .activation = activation, .sample = sample_shape, .classes = classes};
}

TrainingOptions make_options(std::int64_t epochs) {
  return {.batch_size = batch_size, .epochs = epochs, .sgd = {.learning_rate = 0.1, .l2 = 0.001}, .seed = 5};
}

/// With a rule, and a rate that is another one in every step of six epochs.
TrainingOptions make_options_with(Rule rule, std::int64_t epochs) {
  TrainingOptions options = make_options(epochs);
  options.sgd.rule = rule;
  options.sgd.schedule = {.decay = Decay::cosine, .warmup = 8, .steps = 36};
  return options;
}

/// Remembers everything that it is told.
class Recorder final : public TrainingObserver {
 public:
  void on_step(std::int64_t epoch, Index done) override {
    steps.emplace_back(epoch, done);
    allocations.push_back(allocations_so_far());
  }
  void on_log(const StepReport& report) override { logs.push_back(report); }
  void on_epoch(const EpochReport& report, std::int64_t step_count,
                const std::vector<ParameterValues>& values) override {
    reports.push_back(report);
    steps_at_epoch.push_back(step_count);
    parameters.push_back(values);
  }

  std::vector<std::pair<std::int64_t, Index>> steps;
  std::vector<std::int64_t> allocations;  ///< so far, at each step
  std::vector<StepReport> logs;
  std::vector<EpochReport> reports;
  std::vector<std::int64_t> steps_at_epoch;
  std::vector<std::vector<ParameterValues>> parameters;  ///< after each epoch
};

/// What is trained, and how.
struct Plan {
  TrainingOptions options = make_options(3);
  WorkerOptions workers = {};
  ModelOptions model = make_model();
  Starts starts = {};  ///< none: as every training starts
  std::int64_t steps_done = 0;
  bool is_far = false;  ///< whether the host cannot follow pointers, as far as the trainer knows
  serial::GemmVariant gemm = serial::GemmVariant::reordered;
};

/// A network, and everything that a training of it needs.
template <typename T>
struct Training {
  explicit Training(const Plan& plan = {}, std::unique_ptr<ObservedExecutor<T>> own = {})
      : options(plan.options),
        network(make_network<T>(plan.model, options.batch_size, use(plan, std::move(own)))),
        step({.network = network,
              .training_set = data,
              .workers = plan.workers,
              .max_rows = options.batch_size,
              .steps_done = plan.steps_done},
             build_training(network.model, options.sgd, plan.workers), starts_of(plan)) {
    recorder.allocations.reserve(1000);
    recorder.steps.reserve(1000);
  }

  std::unique_ptr<ObservedExecutor<T>> use(const Plan& plan, std::unique_ptr<ObservedExecutor<T>> own) {
    if (!own) own = std::make_unique<ObservedExecutor<T>>(plan.gemm);
    executor = own.get();
    executor->is_far = plan.is_far;
    return own;
  }

  /// For each worker that has its own, other parameters.
  static Starts starts_of(const Plan& plan) {
    Starts starts = plan.starts;
    const bool alone = plan.workers.average == Average::gradients;
    for (int worker = 0; plan.starts.empty() && worker < (alone ? 1 : plan.workers.workers); ++worker) {
      starts.push_back(initial_parameters(build_model(plan.model), plan.model, plan.options.seed,
                                          static_cast<std::uint64_t>(worker)));
    }
    return starts;
  }

  void run(std::int64_t first_epoch = 1) { train(network, step, data, validation, options, first_epoch, recorder); }

  /// The sentence with which it fails.
  std::string failure() {
    return sentence_of([&] { run(); });
  }

  const std::vector<ParameterValues>& arrival() const { return recorder.parameters.back(); }

  Dataset data = make_data();
  Dataset validation;
  TrainingOptions options;
  ObservedExecutor<T>* executor = nullptr;
  Network<T> network;
  ProgramStep<T> step;
  Recorder recorder;
};

template <typename T>
std::unique_ptr<Training<T>> trained(const Plan& plan) {
  auto training = std::make_unique<Training<T>>(plan);
  training->run();
  return training;
}

/// The largest difference of two sets of parameters; infinite if there is a NaN, 0 if they are the
/// same.
double distance(const std::vector<ParameterValues>& a, const std::vector<ParameterValues>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].name != b[i].name || a[i].values.size() != b[i].values.size()) return INFINITY;
    for (std::size_t j = 0; j < a[i].values.size(); ++j) {
      const double apart = std::abs(a[i].values[j] - b[i].values[j]);
      if (!(apart <= largest)) largest = std::isnan(apart) ? INFINITY : apart;
    }
  }
  return largest;
}

/// Expects the same reports and parameters after the last epochs of both, up to `bound`.
void expect_within(const Recorder& actual, const Recorder& expected, double bound, std::size_t last_epochs = 3) {
  ASSERT_GE(actual.reports.size(), last_epochs);
  ASSERT_GE(expected.reports.size(), last_epochs);
  for (std::size_t i = 1; i <= last_epochs; ++i) {
    const EpochReport& own = *(actual.reports.end() - static_cast<std::ptrdiff_t>(i));
    const EpochReport& other = *(expected.reports.end() - static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(own.epoch, other.epoch);
    EXPECT_NEAR(own.train_loss, other.train_loss, bound);
    EXPECT_EQ(own.train_accuracy, other.train_accuracy);
    EXPECT_EQ(own.validation_loss.has_value(), other.validation_loss.has_value());
    EXPECT_NEAR(own.validation_loss.value_or(0), other.validation_loss.value_or(0), bound);
    EXPECT_LE(
        distance(actual.parameters[actual.parameters.size() - i], expected.parameters[expected.parameters.size() - i]),
        bound);
  }
}

// ------------------------------------------------------------------------------- order of samples

std::vector<std::uint32_t> order_of(Index count, std::uint64_t seed, std::int64_t epoch, bool shuffled = true) {
  std::vector<std::uint32_t> order = {99, 98};  // left over from something else
  order_of_epoch(count, seed, epoch, shuffled, order);
  return order;
}

TEST(OrderOfEpoch, IsAPermutationThatDependsOnSeedAndEpochOnly) {
  for (const Index count : {0, 1, 2, 53, 1000}) {
    const std::vector<std::uint32_t> order = order_of(count, 3, 1);
    ASSERT_EQ(order.size(), static_cast<std::size_t>(count));
    const std::set<std::uint32_t> distinct(order.begin(), order.end());
    EXPECT_EQ(distinct.size(), order.size());
    EXPECT_TRUE(distinct.empty() || *distinct.rbegin() == count - 1);
  }
  EXPECT_EQ(order_of(53, 3, 1), order_of(53, 3, 1));
  EXPECT_NE(order_of(53, 3, 1), order_of(53, 4, 1));
  EXPECT_NE(order_of(53, 3, 1), order_of(53, 3, 2));
  EXPECT_NE(order_of(53, 3, 2), order_of(53, 2, 3));
  EXPECT_EQ(order_of(7, 3, 1, false), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(ShardOf, SharesOutEverySampleOnceAndEvenly) {
  for (Index rows = 0; rows <= 60; ++rows) {
    for (const int workers : {1, 2, 3, 7, 16, 59, 60, 61, 100}) {
      SCOPED_TRACE(std::to_string(rows) + " samples, " + std::to_string(workers) + " workers");
      Index next = 0;
      Index previous = rows;
      for (int worker = 0; worker < workers; ++worker) {
        const Shard shard = shard_of(rows, workers, worker);
        EXPECT_EQ(shard.first, next);
        EXPECT_GE(shard.rows, 0);
        EXPECT_LE(shard.rows, previous) << "the longer ones come first";
        next += shard.rows;
        previous = shard.rows;
      }
      EXPECT_EQ(next, rows);
      EXPECT_LE(shard_of(rows, workers, 0).rows - previous, 1);
    }
  }
}

// ----------------------------------------------------------------------------------- the training

TEST(Train, LearnsAndReports) {
  Training<double> training({.options = make_options(20)});
  training.validation = make_data(31, 2);
  training.run();

  const std::vector<EpochReport>& reports = training.recorder.reports;
  ASSERT_EQ(reports.size(), 20U);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].epoch, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(training.recorder.steps_at_epoch[i], reports[i].epoch * steps_per_epoch);
  }
  EXPECT_LT(reports.back().train_loss, reports.front().train_loss / 2);
  EXPECT_GT(reports.back().train_accuracy, 0.8);

  const Evaluation evaluation = evaluate(training.network, training.validation);
  ASSERT_TRUE(reports.back().validation_loss.has_value());
  EXPECT_EQ(*reports.back().validation_loss, evaluation.loss);
  EXPECT_EQ(*reports.back().validation_accuracy, evaluation.accuracy);
}

TEST(Train, LogsWhatAnEpochIsMadeOf) {
  for (const bool is_far : {false, true}) {
    Plan plan = {.options = make_options_with(Rule::adam, 3), .is_far = is_far};
    plan.options.sgd.l2 = 0;
    const auto silent = trained<double>(plan);
    EXPECT_TRUE(silent->recorder.logs.empty());
    plan.options.log_every = 4;
    const auto training = trained<double>(plan);
    EXPECT_EQ(distance(training->arrival(), silent->arrival()), 0);

    const std::vector<StepReport>& logs = training->recorder.logs;
    ASSERT_EQ(logs.size(), 6U);
    for (std::size_t i = 0; i < 6; i += 2) {  // 40 samples, and the 13 left
      const EpochReport& epoch = training->recorder.reports[i / 2];
      for (const std::size_t j : {i, i + 1}) {
        EXPECT_EQ(logs[j].epoch, epoch.epoch);
        EXPECT_EQ(logs[j].learning_rate, learning_rate_of(plan.options.sgd, logs[j].step));
        EXPECT_GT(logs[j].images_per_second, 0);
      }
      EXPECT_EQ(logs[i].step, 3 * static_cast<std::int64_t>(i) + 4);
      EXPECT_EQ(logs[i + 1].step, 3 * static_cast<std::int64_t>(i) + 6);
      EXPECT_NEAR((40 * logs[i].accuracy + 13 * logs[i + 1].accuracy) / 53, epoch.train_accuracy, 1e-14);
      EXPECT_NEAR((40 * logs[i].loss + 13 * logs[i + 1].loss) / 53, epoch.train_loss, 1e-14);
    }
    EXPECT_EQ(logs.front().learning_rate, 0.1 / 2);
  }
}

template <typename T>
class TrainIn : public testing::Test {};
TYPED_TEST_SUITE(TrainIn, Precisions, PrecisionNames);

TEST(Train, DependsOnTheSeed) {
  Plan plan;
  plan.starts = Training<double>::starts_of(plan);  // only the order of the samples differs
  const auto training = trained<double>(plan);
  plan.options.seed = 6;
  EXPECT_GT(distance(trained<double>(plan)->arrival(), training->arrival()), 1e-4);
}

TYPED_TEST(TrainIn, ContinuesAsIfItHadNeverStopped) {
  for (const Rule rule : {Rule::sgd, Rule::momentum, Rule::adam}) {
    const auto uninterrupted = trained<TypeParam>({.options = make_options_with(rule, 5)});
    auto before = trained<TypeParam>({.options = make_options_with(rule, 3)});
    const auto state = before->step.optimizer_state();
    EXPECT_EQ(state.size(), static_cast<std::size_t>(rule) * before->arrival().size());
    const auto continued = [&](std::int64_t steps_done, bool with_state) {
      auto after = std::make_unique<Training<TypeParam>>(
          Plan{.options = make_options_with(rule, 5), .starts = {before->arrival()}, .steps_done = steps_done});
      if (with_state) after->step.set_optimizer_state(state, "the checkpoint");
      after->run(4);
      EXPECT_EQ(after->recorder.reports.size(), 2U);
      EXPECT_EQ(after->recorder.steps_at_epoch, (std::vector<std::int64_t>{24, 30}));
      return after;
    };
    expect_within(continued(18, true)->recorder, uninterrupted->recorder, 0, 2);
    const auto differs = [&](const std::unique_ptr<Training<TypeParam>>& other) {
      return distance(other->arrival(), uninterrupted->arrival()) > 0;
    };
    EXPECT_TRUE(differs(continued(0, true))) << "the step matters";
    if (rule == Rule::sgd) continue;
    EXPECT_TRUE(differs(continued(18, false))) << "and so does the state";
    std::vector<ParameterValues> broken = state;
    broken.back().shape = {1};
    EXPECT_THROW(before->step.set_optimizer_state(broken, "the checkpoint"), Error);
    broken.pop_back();
    EXPECT_THROW(before->step.set_optimizer_state(broken, "the checkpoint"), Error);
  }
}

TYPED_TEST(TrainIn, ComputesTheSameWhereTheHostMustCopy) {
  Training<TypeParam> near;
  Training<TypeParam> far({.is_far = true});
  const Index before = near.executor->copies_out - far.executor->copies_out;
  near.validation = make_data(31, 2);
  far.validation = make_data(31, 2);
  near.run();
  far.run();
  // Where reading is free, totals are read after each step, else once an epoch.
  EXPECT_EQ(near.executor->copies_out - far.executor->copies_out - before, 3 * steps_per_epoch);
  expect_within(far.recorder, near.recorder, 0);
}

/// Between epochs, the parameters are copied out for the observer.
TYPED_TEST(TrainIn, AllocatesNothingInAStep) {
  const std::int64_t before = allocations_so_far();
  const Tensor<float> tensor(Shape{3, 4});
  EXPECT_EQ(allocations_so_far() - before, 1) << "allocations are not counted";
  std::vector<Plan> plans = {{.is_far = true},
                             {.workers = {.workers = 3}},
                             {.workers = {.workers = 3, .average = Average::weights, .average_every = 2}}};
  for (const std::string& name : serial::gemm_variant_names()) {
    plans.push_back({.gemm = serial::parse_gemm_variant(name)});
    plans.push_back(plans.back());
    plans.back().model.loss = LossKind::squared_error;
  }
  for (const Plan& plan : plans) {
    for (const bool timings : {false, true}) {
      if (timings && plan.workers.workers > 1) continue;
      Training<TypeParam> training(plan);
      if (timings) training.network.executor->enable_timings();
      training.run();
      const std::vector<std::int64_t>& counts = training.recorder.allocations;
      ASSERT_EQ(counts.size(), std::size_t{3} * steps_per_epoch);
      for (std::size_t i = 1; i < counts.size(); ++i) {
        if (i % steps_per_epoch == 0) continue;
        EXPECT_EQ(counts[i], counts[i - 1]) << "in step " << i + 1;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------- workers

/// Sigmoid units: sums in another order would switch a relu here and there.
Plan with_workers(const WorkerOptions& workers, Index batch = batch_size) {
  Plan plan = {.workers = workers, .model = make_model(Activation::sigmoid)};
  plan.options.batch_size = batch;
  plan.options.sgd = {.learning_rate = 0.5, .l2 = 0.01};
  return plan;
}

TYPED_TEST(TrainIn, OneWorkerWithItsOwnWeightsIsNoneBitForBit) {
  for (const Index batch : {10, 53, 1}) {
    const WorkerOptions one = {.workers = 1, .average = Average::weights};
    expect_within(trained<TypeParam>(with_workers(one, batch))->recorder,
                  trained<TypeParam>(with_workers({}, batch))->recorder, 0);
  }
}

/// 53 samples in batches of 50: the second batch has samples for three of the seven workers only.
TYPED_TEST(TrainIn, WorkersAverageToTheBatchsGradient) {
  const double bound = std::is_same_v<TypeParam, float> ? 1e-5 : 1e-12;
  const auto alone = trained<TypeParam>(with_workers({}, 50));
  for (const int workers : {2, 3, 7, 50, 60}) {
    SCOPED_TRACE(std::to_string(workers) + " workers");
    const auto shared = trained<TypeParam>(with_workers({.workers = workers}, 50));
    expect_within(shared->recorder, alone->recorder, bound);
    EXPECT_TRUE(shared->step.worker_parameters().empty());
  }
  // Far more than the bound happens in these steps.
  EXPECT_GT(distance(alone->recorder.parameters.front(), alone->arrival()), 1e-2);
}

/// Six steps an epoch and a mean every five: between two means, after one epoch as after three.
TYPED_TEST(TrainIn, WorkersContinueAsIfTheyHadNeverStopped) {
  Plan plan = with_workers({.workers = 3, .average = Average::weights, .average_every = 5});
  const auto uninterrupted = trained<TypeParam>(plan);
  plan.options.epochs = 1;
  plan.starts = trained<TypeParam>(plan)->step.worker_parameters();
  EXPECT_GT(distance(plan.starts[0], plan.starts[1]), 1e-4) << "nothing to be restored";
  plan.options.epochs = 3;
  const Starts ends = uninterrupted->step.worker_parameters();
  for (const Index steps_done : {steps_per_epoch, Index{0}}) {
    plan.steps_done = steps_done;
    Training<TypeParam> after(plan);
    after.run(2);
    const bool is_right = steps_done > 0;  // who forgets it takes the mean at other moments
    if (is_right) expect_within(after.recorder, uninterrupted->recorder, 0, 2);
    for (std::size_t worker = 0; worker < 3; ++worker) {
      EXPECT_EQ(distance(after.step.worker_parameters()[worker], ends[worker]) == 0, is_right);
    }
  }
}

TEST(Workers, StartWithTheMeanInTheNetworkAndAsManyAsTheirStarts) {
  Plan plan = with_workers({.workers = 2, .average = Average::weights});
  Training<double> training(plan);
  plan.starts = training.step.worker_parameters();
  std::vector<ParameterValues> mean = plan.starts[0];
  EXPECT_GT(distance(mean, plan.starts[1]), 1e-2);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    for (std::size_t j = 0; j < mean[i].values.size(); ++j) {
      mean[i].values[j] = (mean[i].values[j] + plan.starts[1][i].values[j]) / 2;
    }
  }
  EXPECT_LE(distance(copy_parameters_out(training.network), mean), 1e-15);
  plan.workers.workers = 3;
  EXPECT_EQ(sentence_of([&] { const Training<double> three(plan); }),
            "3 workers cannot start from the parameters of 2");
}

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
  const auto prompt = trained<double>({.options = make_options(2)});
  // On others, totals are read after each step.
  Training<double> training({.options = make_options(2), .is_far = true});
  LateStep late(training.step);
  Recorder recorder;
  train(training.network, late, training.data, Dataset(), training.options, 1, recorder);
  std::vector<std::pair<std::int64_t, Index>> expected;
  std::vector<std::pair<std::int64_t, Index>> expected_late;
  for (const std::int64_t epoch : {1, 2}) {
    for (const Index asked : {10, 20, 30, 40, 50, 53}) {
      expected.emplace_back(epoch, asked);
      expected_late.emplace_back(epoch, asked / 2);
    }
    for (const Index looks : {1, 2, 3}) expected_late.emplace_back(epoch, 53 / 2 + looks);
  }
  EXPECT_EQ(prompt->recorder.steps, expected);
  EXPECT_EQ(recorder.steps, expected_late);
  EXPECT_EQ(late.ends, 2);
  EXPECT_EQ(late.prepared.size(), 53U);
  expect_within(recorder, prompt->recorder, 0, 2);
}

// -------------------------------------------------------------------------------- NaN and infinity

TEST(Train, StopsAtALossThatIsNotFinite) {
  Plan plan;
  plan.options.sgd.learning_rate = 1e30;
  Training<float> near(plan);
  const std::string failure = near.failure();
  EXPECT_TRUE(failure.find("in epoch 1, step 2") != std::string::npos ||
              failure.find("in epoch 1, step 3") != std::string::npos)
      << failure;
  expect_contains(failure, "1e+30");
  EXPECT_TRUE(near.recorder.reports.empty());
  EXPECT_LE(near.recorder.steps.size(), 2U) << "training went on";
  // The host reads once an epoch.
  plan.is_far = true;
  Training<float> far(plan);
  EXPECT_EQ(far.failure(), failure);
  EXPECT_TRUE(far.recorder.reports.empty());
}

TEST(Train, NamesALaterEpoch) {
  auto training = trained<float>({});
  std::vector<ParameterValues> broken = training->arrival();
  broken.back().values.back() = nan;
  copy_parameters_in(training->network, broken, "the test");
  training->options.epochs = 6;
  expect_contains(sentence_of([&] { training->run(5); }), "the loss became NaN in epoch 5, step 1");
  EXPECT_EQ(training->recorder.reports.size(), 3U);
}

/// The last step's loss is still finite, but its update is not: no loss shows that.
TEST(Train, StopsAtParametersThatAreNotFinite) {
  for (const bool is_far : {false, true}) {
    Plan plan = {.options = make_options(1), .is_far = is_far};
    plan.options.batch_size = samples;  // one step
    plan.options.sgd.learning_rate = std::numeric_limits<float>::infinity();
    Training<float> training(plan);
    expect_contains(training.failure(), "became NaN or infinite in epoch 1, step 1");
    EXPECT_TRUE(training.recorder.reports.empty());
  }
}

/// Computes one kind of operation wrongly.
template <typename Op>
std::unique_ptr<ObservedExecutor<float>> with_a_nan() {
  return std::make_unique<ObservedExecutor<float>>(
      instead_of<Op, float>([](ObservedExecutor<float>& executor, const Op& op) {
        executor.compute(op);
        executor.data(op.y)[0] = static_cast<float>(nan);
      }));
}

TEST(Train, AlsoNamesAnOperationThatMayBeWrong) {
  struct Wrong {
    std::unique_ptr<ObservedExecutor<float>> executor;
    std::string begin;
    std::string end;
  };
  std::array<Wrong, 2> cases = {
      {{with_a_nan<AddBias>(),
        "1, and training stopped; that was before the first update, so the learning rate is not "
        "the "
        "cause, but inputs up to ",
        " or an operation that computes wrong numbers may be"},
       {with_a_nan<ColumnSums>(), "2, and training stopped; a learning rate smaller than ",
        ", unless an operation computes wrong numbers"}}};
  for (auto& [executor, begin, end] : cases) {
    Training<float> training({}, std::move(executor));
    try {
      training.run();
      ADD_FAILURE() << "no failure";
    } catch (const NotFinite& error) {
      const std::string sentence = error.what();
      EXPECT_TRUE(sentence.starts_with("the loss became NaN in epoch 1, step " + begin)) << sentence;
      EXPECT_TRUE(sentence.ends_with(end)) << sentence;
      EXPECT_TRUE(error.may_be_a_kernel());
    }
  }
  Training<float> training({}, with_a_nan<AddBias>());
  const std::string sentence = sentence_of([&] { evaluate(training.network, training.data); });
  EXPECT_TRUE(sentence.ends_with(" or an operation that computes wrong numbers may be the cause")) << sentence;
}

TEST(NotFinite, KnowsTheLargestNumbers) {
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
  copy_parameters_in(network,
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

TEST(Evaluate, RefusesAnEmptyDataSetAndALossThatIsNotFinite) {
  Training<double> training;
  EXPECT_THROW(evaluate(training.network, make_data().slice(0, 0)), Error);
  std::vector<ParameterValues> values = copy_parameters_out(training.network);
  values.front().values.front() = nan;
  copy_parameters_in(training.network, values, "the test");
  EXPECT_THROW(evaluate(training.network, training.data), Error);
}

}  // namespace
}  // namespace stagewise

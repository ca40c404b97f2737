/// @file
/// Steps by one persistent kernel train what stage 01's loops train, however a network is divided
/// among the blocks.

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "01_serial/serial_executor.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/gpu_test.hpp"
#include "cross_stage/picked_rows.hpp"
#include "cross_stage/random_shapes.hpp"
#include "cross_stage/recorded_trainings.hpp"
#include "cuda/device.hpp"
#include "ladders/persistent/training/mlp_steps.hpp"
#include "ladders/persistent/training/persistent_step.hpp"
#include "ladders/persistent/training/persistent_training.hpp"
#include "network/print.hpp"
#include "network/workers.hpp"
#include "support.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

using cross_stage::cases_named;
using cross_stage::expect_same_outcome;
using cross_stage::train_serially;
using cross_stage::TrainingCase;
using minibatch::Word;
using minibatch::persistent::as_persistent_step;
using minibatch::persistent::Choice;
using minibatch::persistent::Mlp;
using minibatch::persistent::MlpShape;
using minibatch::persistent::Plan;

template <typename T>
class Stage04Persistent : public GpuTest {};
TYPED_TEST_SUITE(Stage04Persistent, Precisions, PrecisionNames);

// -------------------------------------------------------------------------------- one launch

/// A network, some batches, and how they are divided.
struct Perceptron {
  ModelOptions model;
  Index rows = 1;      ///< of the batches
  Index max_rows = 1;  ///< for which it was planned
  Index steps = 3;
  double l2 = 0;
  int input_slices = 1;
  int unit_slices = 1;
  int unit_tile = 4;

  MlpShape shape() const {
    return {model.sample.elements(), model.hidden.front(), model.classes, max_rows};
  }

  std::string name() const {
    return std::to_string(shape().in) + "-" + std::to_string(shape().hidden) + "-" +
           std::to_string(shape().out) + ", " + to_string(model.activation) + ", " +
           to_string(model.loss) + (model.biases ? ", " : ", no biases, ") + std::to_string(rows) +
           " of " + std::to_string(max_rows) + " rows, " + std::to_string(input_slices) + " x " +
           std::to_string(unit_slices) + " slices, tile " + std::to_string(unit_tile);
  }
};

constexpr double learning_rate = 0.25;

/// Parameters and totals.
template <typename T>
struct Trained {
  std::vector<std::vector<T>> parameters;
  Totals totals;
};

/// What both train with.
template <typename T>
class Samples {
 public:
  explicit Samples(const Perceptron& one)
      : model(build_model(one.model)), order(cross_stage::random_order(one.steps * one.rows, 3)) {
    const Index count = one.steps * one.rows + cross_stage::spare_samples;
    features = random_values<double>(count * one.shape().in, 1);
    for (double& value : features) value = static_cast<double>(static_cast<float>(value));
    labels = random_labels(count, one.model.classes, 2);
    for (const ValueId id : model.parameters) {
      const Index n = model[id].shape.elements();
      parameters.push_back(random_values<T>(n, static_cast<std::uint64_t>(id.index), -0.5, 0.5));
    }
  }

  Model model;
  std::vector<double> features;
  std::vector<std::int32_t> labels;
  std::vector<std::uint32_t> order;
  std::vector<std::vector<T>> parameters;
};

template <typename T>
Trained<T> train_by_loops(const Perceptron& one, const Samples<T>& samples) {
  const TrainingPrograms programs = build_training(
      samples.model, {.learning_rate = learning_rate, .l2 = one.l2}, WorkerOptions{});
  const Dataset data(one.model.sample, one.model.classes, samples.features, samples.labels);
  SerialExecutor<T> executor;
  executor.load(programs.step, one.max_rows);
  executor.read_from(data, samples.order);
  reset_totals<T>(executor, programs.totals);
  for (std::size_t i = 0; i < samples.parameters.size(); ++i) {
    executor.copy_in(executor.data(samples.model.parameters[i]), samples.parameters[i].data(),
                     samples.parameters[i].size() * sizeof(T));
  }
  for (Index step = 0; step < one.steps; ++step) {
    executor.execute(programs.step, {.first = step * one.rows, .rows = one.rows, .step = step + 1});
  }
  Trained<T> result = {.parameters = samples.parameters,
                       .totals = totals_of<T>(executor, programs.totals)};
  for (std::size_t i = 0; i < samples.parameters.size(); ++i) {
    executor.copy_out(result.parameters[i].data(), executor.data(samples.model.parameters[i]),
                      result.parameters[i].size() * sizeof(T));
  }
  return result;
}

/// By one kernel, in two launches with the same mailbox.
template <typename T>
Trained<T> train_by_one_kernel(const Perceptron& one, const Samples<T>& samples, const Plan& plan) {
  CudaArray<T> features(std::vector<T>(samples.features.begin(), samples.features.end()));
  CudaArray<std::int32_t> labels(samples.labels);
  CudaArray<std::uint32_t> order(samples.order);
  std::vector<CudaArray<T>> parameters;
  for (const std::vector<T>& values : samples.parameters) parameters.emplace_back(values);
  CudaArray<Totals> totals(std::vector<Totals>(1));
  CudaArray<Word> mailbox(std::vector<Word>(static_cast<std::size_t>(plan.mailbox.size)));
  const bool has_biases = one.model.biases;
  const bool squares = one.model.loss == LossKind::squared_error;
  Mlp<T> mlp = {.shape = one.shape(),
                .features = features.get(),
                .labels = labels.get(),
                .weight = parameters[0].get(),
                .bias = has_biases ? parameters[1].get() : nullptr,
                .out_weight = parameters[has_biases ? 2 : 1].get(),
                .out_bias = has_biases ? parameters[3].get() : nullptr,
                .activation = one.model.activation,
                .loss = one.model.loss,
                .out_activation = squares && one.model.activation == Activation::sigmoid
                                      ? Activation::sigmoid
                                      : Activation::none,
                .learning_rate = static_cast<T>(learning_rate),
                .l2 = static_cast<T>(one.l2),
                .totals = totals.get()};
  mlp.shape.rows = one.rows;
  minibatch::persistent::load_kernel<T>(plan);
  Index done = 0;
  for (const Index steps : {one.steps - 1, Index{1}}) {
    mlp.steps = steps;
    mlp.first_step = done + 1;
    mlp.order = order.get() + done * one.rows;
    minibatch::persistent::train_steps(nullptr, mlp, plan, mailbox.get(),
                                       static_cast<std::uint32_t>(1 + done));
    done += steps;
  }
  Trained<T> result = {.parameters = {}, .totals = totals.read().front()};
  for (const CudaArray<T>& array : parameters) result.parameters.push_back(array.read());
  return result;
}

template <typename T>
void expect_as_by_loops(const Perceptron& one) {
  const auto plan = minibatch::persistent::plan_slices<T>(
      one.shape(), one.input_slices, one.unit_slices, one.unit_tile,
      static_cast<std::size_t>(cuda::shared_memory_per_block()) - 64);
  ASSERT_TRUE(plan) << one.name();
  const Samples<T> samples(one);
  const Trained<T> expected = train_by_loops(one, samples);
  const Trained<T> actual = train_by_one_kernel(one, samples, *plan);
  ASSERT_EQ(actual.parameters.size(), expected.parameters.size());
  const double terms = static_cast<double>(std::max(one.shape().in, one.rows));
  const double units = 64 + 16 * std::sqrt(terms);
  for (std::size_t i = 0; i < expected.parameters.size(); ++i) {
    expect_within_units(one.name() + ", parameter " + std::to_string(i), units,
                        actual.parameters[i], expected.parameters[i], 1);
  }
  const double rounding = units * static_cast<double>(std::numeric_limits<T>::epsilon());
  EXPECT_NEAR(actual.totals.loss, expected.totals.loss, rounding * expected.totals.loss)
      << one.name();
  EXPECT_EQ(actual.totals.correct, expected.totals.correct) << one.name();
  EXPECT_EQ(actual.totals.first_bad_step, -1) << one.name();
  if (testing::Test::HasFailure()) return;

  const Trained<T> again = train_by_one_kernel(one, samples, *plan);
  EXPECT_EQ(again.parameters, actual.parameters) << one.name() << " differs the second time";
  EXPECT_EQ(again.totals.loss, actual.totals.loss) << one.name();
}

template <typename T>
Perceptron random_network(Random& random) {
  const auto below = [&](int n) { return static_cast<Index>(random.below(n)); };
  Perceptron one;
  one.model = {.hidden = {1 + below(21)},
               .activation = below(2) == 0 ? Activation::relu : Activation::sigmoid,
               .loss = below(2) == 0 ? LossKind::cross_entropy : LossKind::squared_error,
               .biases = below(4) != 0,
               .sample = {1 + below(45)},
               .classes = static_cast<int>(2 + below(6))};
  one.max_rows = 1 + below(14);
  one.rows = 1 + below(static_cast<int>(one.max_rows));
  one.l2 = below(2) == 0 ? 0 : 0.125;
  one.unit_tile = below(2) == 0 ? 4 : minibatch::persistent::max_unit_tile<T>;
  constexpr Index vector = 4;  // of floats
  one.input_slices = static_cast<int>(1 + below(3));
  one.input_slices = std::min(one.input_slices, static_cast<int>((one.shape().in + 3) / vector));
  one.unit_slices = static_cast<int>(std::min<Index>(1 + below(2), one.shape().hidden));
  return one;
}

TYPED_TEST(Stage04Persistent, NetworksOfRandomShapesAreStage01s) {
  Random random(5);
  for (int i = 0; i < (is_in_a_slow_preset() ? 3 : 12); ++i) {
    expect_as_by_loops<TypeParam>(random_network<TypeParam>(random));
    if (this->HasFailure()) return;
  }
}

/// More slices than rows, so that some blocks have none; one unit a slice; inputs that no vector
/// divides; outputs that lanes share, with an odd number of own rows.
TYPED_TEST(Stage04Persistent, NetworksOfExtremeShapesAreStage01s) {
  Perceptron few_rows = {.model = {.hidden = {5}, .sample = {33}, .classes = 3},
                         .rows = 2,
                         .max_rows = 3,
                         .input_slices = 4};
  expect_as_by_loops<TypeParam>(few_rows);
  Perceptron few_units = {.model = {.hidden = {3}, .sample = {1}, .classes = 2},
                          .rows = 17,
                          .max_rows = 17,
                          .unit_slices = 3};
  expect_as_by_loops<TypeParam>(few_units);
  for (const int classes : {16, 17, 32, 33}) {
    Perceptron many_classes = {.model = {.hidden = {6}, .sample = {9}, .classes = classes},
                               .rows = 7,
                               .max_rows = 7,
                               .input_slices = 2,
                               .unit_slices = 2};
    expect_as_by_loops<TypeParam>(many_classes);
  }
  Perceptron smallest = {.model = {.hidden = {1}, .sample = {1}, .classes = 2}, .steps = 2};
  expect_as_by_loops<TypeParam>(smallest);
}

// -------------------------------------------------------------------------------- whole trainings

template <typename T>
cross_stage::Outcome train_in_one_kernel(const TrainingCase& one) {
  auto executor = std::make_unique<PersistentExecutor<T>>();
  PersistentExecutor<T>& known = *executor;
  const auto make_step = [&](Network<T>& network, const Starts& starts) -> std::unique_ptr<Step> {
    TrainingPrograms programs = build_training(network.model, one.options.sgd, {});
    programs.step =
        as_persistent_step<T>(programs.step, one.options.batch_size, Choice::always).value();
    const StepSetup<T> setup = {network, one.data, {}, one.options.batch_size};
    return std::make_unique<PersistentTraining<T>>(setup, known, std::move(programs), starts);
  };
  return cross_stage::train_case<T>(std::move(executor), one, {}, make_step,
                                    cross_stage::fusing<T>(one, true));
}

TYPED_TEST(Stage04Persistent, TrainingsEqualThoseOfStage01) {
  std::vector<TrainingCase> all = {cases_named("mlp_relu").front(),
                                   cases_named("mlp_squared_error").front()};
  all.push_back(all.back());
  all.back().options.batch_size = 2;  // 49 steps: more than the first launch takes
  for (const TrainingCase& one : all) {
    expect_same_outcome<TypeParam>(train_in_one_kernel<TypeParam>(one),
                                   train_serially<TypeParam>(one),
                                   one.name + ", " + std::to_string(one.options.batch_size));
  }
}

// ---------------------------------------------------------------------------------- the rewrite

ModelOptions table(std::vector<Index> hidden) {
  return {.hidden = std::move(hidden), .sample = {11}, .classes = 4};
}

TEST(PersistentRewrite, MakesOneLineOfASmallPerceptron) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const auto always = [](const Program& program) {
    return as_persistent_step<float>(program, 10, Choice::always);
  };
  const auto fused = always(step_of(table({20})));
  ASSERT_TRUE(fused.has_value());
  ASSERT_EQ(fused->lines.size(), 1U);
  const Line& line = fused->lines.front();
  EXPECT_EQ(text_of(*fused, line.operation) + "  # " + replaced_text(line),
            "persistent_step  features, labels, ..., totals -> fc1/weight, fc1/bias, fc2/weight, "
            "fc2/bias, totals  # gather gemm add_bias relu gemm add_bias softmax_cross_entropy "
            "argmax accumulate softmax_cross_entropy_backward column_sums gemm x2 relu_backward "
            "column_sums gemm sgd_update x4");
  EXPECT_FALSE(as_persistent_step<float>(step_of(table({20})), 10, Choice::never).has_value());
  ModelOptions squares = table({20});
  squares.activation = Activation::sigmoid;
  squares.loss = LossKind::squared_error;
  squares.biases = false;
  EXPECT_TRUE(always(step_of(squares)).has_value());
  const ModelOptions cnn = {.name = "cnn", .sample = {28, 28, 1}, .classes = 10};
  for (const Program& other : {step_of(table({})), step_of(table({20, 9})), step_of(cnn),
                               step_of(table({20}), {.workers = 2})}) {
    EXPECT_FALSE(always(other).has_value());
  }
  EXPECT_EQ(sentence_of([&] { always(step_of(table({10'000'000}))); }),
            "no persistent kernel for 11-10000000-4 and batches of 10 samples fits onto this GPU");
}

}  // namespace
}  // namespace stagewise

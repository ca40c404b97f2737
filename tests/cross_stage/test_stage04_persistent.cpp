/// @file
/// Steps by one persistent kernel train what stage 01's loops train, however a network is divided
/// among the blocks.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cross_stage/gpu_test.hpp"
#include "cross_stage/recorded_trainings.hpp"
#include "cuda/device.hpp"
#include "ladders/persistent/training/persistent_training.hpp"
#include "network/program.hpp"
#include "support.hpp"
#include "unit/programs.hpp"

namespace stagewise {
namespace {

using namespace cross_stage;
using minibatch::persistent::as_persistent_step;
using minibatch::persistent::Choice;
using minibatch::persistent::MlpShape;
using minibatch::persistent::Plan;

template <typename T>
class Stage04Persistent : public GpuTest {};
TYPED_TEST_SUITE(Stage04Persistent, Precisions, PrecisionNames);

/// Trains by persistent steps, divided as `plan` says.
template <typename T>
Outcome train_in_one_kernel(const TrainingCase& one, const std::optional<Plan>& plan = {}) {
  auto executor = std::make_unique<PersistentExecutor<T>>(plan);
  PersistentExecutor<T>& known = *executor;
  const auto make_step = [&](Network<T>& network, const Starts& starts) -> std::unique_ptr<Step> {
    TrainingPrograms programs = build_training(network.model, one.options.sgd, {});
    programs.step = as_persistent_step<T>(programs.step, one.options.batch_size, Choice::always).value();
    const StepSetup<T> setup = {network, one.data, {}, one.options.batch_size};
    return std::make_unique<PersistentTraining<T>>(setup, known, std::move(programs), starts);
  };
  return train_case<T>(std::move(executor), one, {}, make_step, fusing<T>(one, true));
}

/// A network, and how it is divided among the blocks.
struct Perceptron {
  ModelOptions model;
  Index max_rows = 1;  ///< of a batch
  Index rows = 1;      ///< of the last one
  double l2 = 0;
  int input_slices = 1;
  int unit_slices = 1;
  int unit_tile = 4;

  MlpShape shape() const { return {model.sample.elements(), model.hidden.front(), model.classes, max_rows}; }

  std::string name() const {
    return std::to_string(shape().in) + "-" + std::to_string(shape().hidden) + "-" + std::to_string(shape().out) +
           ", " + to_string(model.activation) + ", " + to_string(model.loss) + (model.biases ? ", " : ", no biases, ") +
           std::to_string(rows) + " of " + std::to_string(max_rows) + " rows, " + std::to_string(input_slices) + " x " +
           std::to_string(unit_slices) + " slices, tile " + std::to_string(unit_tile);
  }

  /// Two epochs of some full batches, enough for a validation set, and of another one.
  TrainingCase training() const {
    const Index samples = (9 / max_rows + 2) * max_rows + rows;
    return {.name = name(),
            .model = model,
            .options = {.batch_size = max_rows, .epochs = 2, .sgd = {.learning_rate = 0.25, .l2 = l2}},
            .data = Dataset(model.sample, model.classes, random_values<double>(samples * shape().in, 1),
                            random_labels(samples, model.classes, 2))};
  }
};

template <typename T>
void expect_as_by_loops(const Perceptron& one) {
  const auto plan =
      minibatch::persistent::plan_slices<T>(one.shape(), one.input_slices, one.unit_slices, one.unit_tile,
                                            static_cast<std::size_t>(cuda::shared_memory_per_block()) - 64);
  ASSERT_TRUE(plan) << one.name();
  const TrainingCase training = one.training();
  const Outcome actual = train_in_one_kernel<T>(training, plan);
  // Two short epochs round less than the trainings of the bounds: up to 4e-7 and 9e-16 here.
  expect_same_outcome<T>(actual, train_serially<T>(training), one.name(), std::is_same_v<T, float> ? 1e-5 : 1e-13);
  expect_same_bits(train_in_one_kernel<T>(training, plan), actual, one.name());
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
  expect_as_by_loops<TypeParam>(
      {.model = {.hidden = {5}, .sample = {33}, .classes = 3}, .max_rows = 3, .rows = 2, .input_slices = 4});
  expect_as_by_loops<TypeParam>(
      {.model = {.hidden = {3}, .sample = {1}, .classes = 2}, .max_rows = 17, .rows = 17, .unit_slices = 3});
  for (const int classes : {16, 17, 32, 33}) {
    expect_as_by_loops<TypeParam>({.model = {.hidden = {6}, .sample = {9}, .classes = classes},
                                   .max_rows = 7,
                                   .rows = 7,
                                   .input_slices = 2,
                                   .unit_slices = 2});
  }
  expect_as_by_loops<TypeParam>({.model = {.hidden = {1}, .sample = {1}, .classes = 2}});
}

TYPED_TEST(Stage04Persistent, TrainingsEqualThoseOfStage01) {
  std::vector<TrainingCase> all = {cases_named("mlp_relu").front(), cases_named("mlp_squared_error").front()};
  all.push_back(all.back());
  all.back().options.batch_size = 2;  // 49 steps: more than the first launch takes
  for (const TrainingCase& one : all) {
    expect_same_outcome<TypeParam>(train_in_one_kernel<TypeParam>(one), train_serially<TypeParam>(one),
                                   one.name + ", " + std::to_string(one.options.batch_size));
  }
}

// ---------------------------------------------------------------------------------- the rewrite

ModelOptions table(std::vector<Index> hidden) { return {.hidden = std::move(hidden), .sample = {11}, .classes = 4}; }

TEST(PersistentRewrite, MakesOneLineOfASmallPerceptron) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const auto always = [](const Program& program) { return as_persistent_step<float>(program, 10, Choice::always); };
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
  for (const Program& other :
       {step_of(table({})), step_of(table({20, 9})), step_of(cnn), step_of(table({20}), {.workers = 2})}) {
    EXPECT_FALSE(always(other).has_value());
  }
  EXPECT_EQ(sentence_of([&] { always(step_of(table({10'000'000}))); }),
            "no persistent kernel for 11-10000000-4 and batches of 10 samples fits onto this GPU");
}

}  // namespace
}  // namespace stagewise

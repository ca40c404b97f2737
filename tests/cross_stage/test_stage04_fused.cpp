/// @file
/// Each of stage 04's fused kernels computes what stage 01's loops compute that it replaces.

#include <array>
#include <cstring>
#include <memory>

#include "cross_stage/cuda_array.hpp"
#include "cross_stage/device_array.hpp"
#include "cross_stage/fused_kernels.hpp"
#include "cross_stage/random_shapes.hpp"
#include "cross_stage/stage_types.hpp"
#include "network/model.hpp"
#include "support.hpp"

namespace stagewise {
namespace {

using cross_stage::bits_of;
using cross_stage::Fused;
using cross_stage::random_order;
using cross_stage::rows_of;
using cross_stage::spare_samples;
using cross_stage::Unfused;

template <typename T>
class Stage04 : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};
TYPED_TEST_SUITE(Stage04, Precisions, PrecisionNames);

/// An array in an executor's memory that does not begin where the allocation does: pointers like
/// this are not aligned for vectors. What surrounds it is NaN, and has to stay so.
template <typename T>
class Surrounded {
 public:
  Surrounded(Executor<T>& executor, const std::vector<T>& values, Index shift)
      : executor_(&executor), shift_(shift), array_(executor, with_surroundings(values, shift)) {}

  T* get() { return array_.get() + shift_; }

  /// The values, the surroundings included.
  std::vector<T> read() const { return array_.read(*executor_); }

 private:
  static std::vector<T> with_surroundings(const std::vector<T>& values, Index shift) {
    constexpr Index behind = 5;
    std::vector<T> all = poison<T>(shift + std::ssize(values) + behind);
    std::copy(values.begin(), values.end(), all.begin() + shift);
    return all;
  }

  Executor<T>* executor_;
  Index shift_;
  DeviceArray<T> array_;
};

/// Results that are to be compared, with what they are.
template <typename T>
struct Result {
  std::string name;
  std::vector<T> values;
};

template <typename T>
using Results = std::vector<Result<T>>;

template <typename T>
void expect_same(const std::string& what, double units, const Results<T>& actual,
                 const Results<T>& expected, double least = 1) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expect_within_units(what + ", " + expected[i].name, units, actual[i].values, expected[i].values,
                        least);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// NaNs of the surroundings included, which are equal to nothing.
template <typename T>
void expect_same_bits(const std::string& what, const Results<T>& a, const Results<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].values.size(), b[i].values.size());
    EXPECT_EQ(std::memcmp(a[i].values.data(), b[i].values.data(), a[i].values.size() * sizeof(T)),
              0)
        << what << ", " << a[i].name << " differs the second time";
  }
}

/// Numbers that an activation could have made.
template <typename T>
std::vector<T> activated(Activation activation, Index n, std::uint64_t seed) {
  std::vector<T> values = random_values<T>(n, seed, activation == Activation::sigmoid ? 0 : -1, 1);
  if (activation == Activation::relu) {
    for (T& value : values) value = std::max(value, T{0});
  }
  return values;
}

// ------------------------------------------------------------------------------- fully connected

/// What becomes of a gradient.
enum class Delivery : std::uint8_t { stored, update };

/// A layer and how it is asked for.
struct Layer {
  Index rows = 1;
  Index in = 1;
  Index out = 1;
  Activation activation = Activation::none;
  Activation input_activation = Activation::none;
  bool has_bias = true;
  bool has_dinput = true;
  bool selects = false;
  Delivery weight = Delivery::stored;
  Delivery bias = Delivery::stored;
  double l2 = 0;
  Index shift = 0;       ///< of some pointers; see Surrounded
  unsigned shifted = 0;  ///< which ones, a bit each

  std::string name() const {
    const auto delivery = [](Delivery d) { return d == Delivery::stored ? "stored" : "update"; };
    return std::to_string(rows) + " rows, " + std::to_string(in) + " to " + std::to_string(out) +
           ", " + name_of_activations() + (has_bias ? ", bias " : ", no bias ") + delivery(bias) +
           ", weight " + delivery(weight) + ", l2 " + std::to_string(l2) +
           (has_dinput ? ", dinput" : "") + (selects ? ", selected" : "") + ", shift " +
           std::to_string(shift) + " of " + std::to_string(shifted);
  }

 private:
  std::string name_of_activations() const {
    return to_string(activation) + " over " + to_string(input_activation);
  }
};

/// The forward and the backward pass of a layer. The backward pass gets a gradient that was taken
/// through the layer's activation already.
template <typename Kernels, typename T>
Results<T> run_layer(Kernels& kernels, const Layer& layer) {
  Executor<T>& executor = kernels.executor();
  const Index rows = layer.rows;
  const Index in = layer.in;
  const Index out = layer.out;
  const auto shift = [&](unsigned bit) {
    return (layer.shifted >> bit) % 2 == 1 ? layer.shift : 0;
  };
  const std::vector<std::uint32_t> order = random_order(rows, 9);
  const Index samples = layer.selects ? rows + spare_samples : rows;
  std::vector<T> input_values = activated<T>(layer.input_activation, samples * in, 1);
  if (layer.selects && !Kernels::selects_rows) input_values = rows_of(input_values, in, order);

  DeviceArray order_array(executor, order);
  Surrounded<T> input(executor, input_values, shift(0));
  Surrounded<T> weight(executor, random_values<T>(in * out, 2, -1, 2), shift(1));
  Surrounded<T> bias(executor, random_values<T>(out, 3), shift(2));
  Surrounded<T> output(executor, poison<T>(rows * out), shift(3));
  Surrounded<T> doutput(executor, random_values<T>(rows * out, 4, -2, 1), shift(4));
  Surrounded<T> dinput(executor, poison<T>(rows * in), shift(5));
  Surrounded<T> dweight(executor, poison<T>(in * out), shift(6));
  Surrounded<T> dbias(executor, poison<T>(out), shift(7));

  LinearProblem<T> forward = {.rows = rows,
                              .in = in,
                              .out = out,
                              .input = input.get(),
                              .weight = weight.get(),
                              .bias = layer.has_bias ? bias.get() : nullptr,
                              .activation = layer.activation,
                              .output = output.get()};
  if (layer.selects && Kernels::selects_rows) forward.order = order_array.get();
  kernels.linear(forward);
  forward.activation = Activation::none;
  const auto target = [](Delivery delivery, T* gradient, T* parameter, double rate, double l2) {
    GradientTarget<T> result{.gradient = gradient};
    if (delivery == Delivery::update) {
      result.parameter = parameter;
      result.learning_rate = static_cast<T>(rate);
      result.l2 = static_cast<T>(l2);
    }
    return result;
  };
  LinearBackwardProblem<T> backward = {
      .forward = forward,
      .doutput = doutput.get(),
      .dinput = layer.has_dinput ? dinput.get() : nullptr,
      .input_activation = layer.input_activation,
      .weight = target(layer.weight, dweight.get(), weight.get(), 0.25, layer.l2)};
  if (layer.has_bias) backward.bias = target(layer.bias, dbias.get(), bias.get(), 0.5, 0);
  kernels.linear_backward(backward);
  Results<T> results = {{"output", output.read()},
                        {"dinput", dinput.read()},
                        {"weight", weight.read()},
                        {"bias", bias.read()},
                        {"doutput", doutput.read()}};
  // A gradient that was used at once need not be stored.
  if (layer.weight != Delivery::update) results.push_back({"dweight", dweight.read()});
  if (layer.bias != Delivery::update) results.push_back({"dbias", dbias.read()});
  return results;
}

/// Runs a layer by stage 04's kernels, twice, and by stage 01's loops.
template <typename T>
void expect_layer_as_in_stage_01(Fused<T>& fused, const Layer& layer) {
  ASSERT_TRUE(minibatch::fits_linear(layer.rows, layer.in, layer.out)) << layer.name();
  const double terms = static_cast<double>(std::max({layer.rows, layer.in, layer.out}));
  Unfused<T> unfused;
  const Results<T> actual = run_layer<Fused<T>, T>(fused, layer);
  expect_same(layer.name(), 32 + 4 * std::sqrt(terms), actual,
              run_layer<Unfused<T>, T>(unfused, layer));
  if (testing::Test::HasFatalFailure()) return;
  expect_same_bits(layer.name(), actual, run_layer<Fused<T>, T>(fused, layer));
}

/// 1, primes, tiles and a little more or less.
Index random_size(Random& random) {
  constexpr std::array sizes = {1,  2,  3,  4,  7,  8,   13,  16,  31,
                                32, 33, 64, 65, 67, 100, 127, 128, 131};
  return sizes.at(random.below(sizes.size()));
}

/// None, and those of all that are fused.
std::vector<Activation> fused_activations() {
  std::vector<Activation> fused = {Activation::none};
  for (const ActivationNames& one : activations) {
    if (minibatch::computes(one.activation)) fused.push_back(one.activation);
  }
  return fused;
}

Layer random_layer(Random& random) {
  const auto coin = [&] { return random.below(2) == 1; };
  Layer layer;
  do {
    layer.rows = random_size(random);
    layer.in = random_size(random);
    layer.out = random_size(random);
  } while (layer.rows * layer.in * layer.out > 150'000 ||
           is_too_large(layer.rows * layer.in * layer.out));
  const std::vector<Activation> fused = fused_activations();
  layer.activation = fused[random.below(fused.size())];
  layer.selects = coin();
  layer.has_bias = coin();
  layer.has_dinput = !layer.selects && coin();
  if (layer.has_dinput) layer.input_activation = fused[random.below(fused.size())];
  layer.weight = coin() ? Delivery::update : Delivery::stored;
  layer.bias = coin() ? Delivery::update : Delivery::stored;
  if (coin()) layer.l2 = 0.375;
  layer.shift = 1 + static_cast<Index>(random.below(3));
  layer.shifted = coin() ? 0 : static_cast<unsigned>(random.below(256));
  return layer;
}

TYPED_TEST(Stage04, LayersOfRandomShapesAreStage01s) {
  Fused<TypeParam> fused;
  Random random(41);
  for (int i = 0; i < shapes_per_rung(); ++i) {
    expect_layer_as_in_stage_01<TypeParam>(fused, random_layer(random));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Stage04, LayersOfEveryKindAreStage01s) {
  Fused<TypeParam> fused;
  Layer layer = {.rows = 37, .in = 20, .out = 28};  // where float and double have vectors
  for (const Index shift : {0, 1}) {
    layer.shift = shift;
    layer.shifted = 255;
    for (const bool selects : {false, true}) {
      layer.selects = selects;
      layer.has_dinput = !selects;
      for (int i = 0; i < 27; ++i) {
        layer.activation = static_cast<Activation>(i % 3);
        layer.weight = static_cast<Delivery>(i / 3 % 2);
        layer.has_bias = i % 5 != 0;
        layer.bias = static_cast<Delivery>(i / 6 % 2);
        layer.input_activation = layer.has_dinput ? static_cast<Activation>(i / 9) : Activation{};
        layer.l2 = 0.125 * (i % 4);
        expect_layer_as_in_stage_01<TypeParam>(fused, layer);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

/// One row or column and many of the other; many tiles in one direction.
TYPED_TEST(Stage04, LayersOfExtremeShapesAreStage01s) {
  Fused<TypeParam> fused;
  const std::vector<Layer> shapes = {
      {.rows = 1, .in = 1, .out = 1},    {.rows = 1, .in = 1009, .out = 1},
      {.rows = 1, .in = 1, .out = 1009}, {.rows = 1009, .in = 1, .out = 1},
      {.rows = 3, .in = 2, .out = 300},  {.rows = 300, .in = 2, .out = 3},
      {.rows = 2, .in = 300, .out = 3},  {.rows = 100, .in = 784, .out = 10}};
  for (Layer layer : shapes) {
    for (const bool selects : {false, true}) {
      for (const Delivery delivery : {Delivery::stored, Delivery::update}) {
        layer.selects = selects;
        layer.has_dinput = !selects;
        layer.activation = Activation::sigmoid;
        layer.weight = delivery;
        layer.bias = delivery;
        layer.l2 = 0.25;
        expect_layer_as_in_stage_01<TypeParam>(fused, layer);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

/// Large ones: for these, an H200 picks each tile of double but 16 x 16, forward and for gradients.
/// On a CPU, those that take no more than seconds.
TYPED_TEST(Stage04, LayersOfTrainingsAreStage01s) {
  if (is_in_a_slow_preset()) GTEST_SKIP() << "These take long here.";
  Fused<TypeParam> fused;
  const std::vector<Layer> shapes = {
      {.rows = 64, .in = 784, .out = 500},   {.rows = 48, .in = 784, .out = 1000},
      {.rows = 800, .in = 48, .out = 500},   {.rows = 800, .in = 48, .out = 1000},
      {.rows = 32, .in = 2000, .out = 1000}, {.rows = 400, .in = 784, .out = 500},
      {.rows = 800, .in = 784, .out = 334},  {.rows = 1000, .in = 784, .out = 256},
      {.rows = 1600, .in = 400, .out = 250}, {.rows = 3200, .in = 784, .out = 250},
      {.rows = 8000, .in = 100, .out = 250}};
  constexpr Index most_on_cpu = 40'000'000;
  for (const Layer& layer : shapes) {
    if (cuda::runs_on_cpu() && layer.rows * layer.in * layer.out > most_on_cpu) continue;
    expect_layer_as_in_stage_01<TypeParam>(fused, layer);
    if (this->HasFatalFailure()) return;
  }
}

/// A NaN that a layer is fed with must come out, whatever the activation.
TYPED_TEST(Stage04, LayersPassNaNsOn) {
  Fused<TypeParam> fused;
  for (const Activation activation : fused_activations()) {
    std::vector<TypeParam> values = random_values<TypeParam>(5 * 3, 1);
    values[4] = std::numeric_limits<TypeParam>::quiet_NaN();
    CudaArray input(values);
    CudaArray weight(random_values<TypeParam>(3 * 2, 2));
    CudaArray output(std::vector<TypeParam>(5 * 2, TypeParam{0}));
    fused.linear({.rows = 5,
                  .in = 3,
                  .out = 2,
                  .input = input.get(),
                  .weight = weight.get(),
                  .activation = activation,
                  .output = output.get()});
    const std::vector<TypeParam> result = output.read();
    for (std::size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ(std::isnan(result[i]), i / 2 == 1) << to_string(activation) << ", element " << i;
    }
  }
}

/// Over all of the range in which it is neither 0 nor 1, and far outside.
TYPED_TEST(Stage04, SigmoidsAreThoseOfTheFormula) {
  Fused<TypeParam> fused;
  constexpr double end = sizeof(TypeParam) == 8 ? 707 : 86;
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  std::vector<TypeParam> values = random_values<TypeParam>(4000, 1, -end, end);
  for (const TypeParam value : random_values<TypeParam>(4000, 2, -4, 4)) values.push_back(value);
  values.insert(values.end(), {-infinity, infinity, TypeParam(-2 * end), TypeParam(2 * end),
                               std::numeric_limits<TypeParam>::lowest(), TypeParam{0}});
  CudaArray input(values);
  CudaArray weight(std::vector<TypeParam>{1});
  CudaArray output(poison<TypeParam>(std::ssize(values)));
  fused.linear({.rows = std::ssize(values),
                .in = 1,
                .out = 1,
                .input = input.get(),
                .weight = weight.get(),
                .activation = Activation::sigmoid,
                .output = output.get()});
  const std::vector<TypeParam> result = output.read();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto expected =
        static_cast<double>(1 / (1 + std::exp(-static_cast<long double>(values[i]))));
    const double units = 3 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
    const double tiny = 2 * static_cast<double>(std::numeric_limits<TypeParam>::min());
    EXPECT_NEAR(result[i], expected, units * expected + tiny) << values[i];
  }
}

// -------------------------------------------------------------------------------------- the loss

/// The end of a network and how it is asked for.
struct LossCase {
  Index rows = 1;
  Index classes = 2;
  LossKind loss = LossKind::cross_entropy;
  bool has_threshold = false;
  Activation activation = Activation::none;
  bool selects = false;
  bool has_ties = false;
  Index other_rows = 0;  ///< of the batch that these rows are a part of

  std::string name() const {
    return to_string(loss) + " of " + std::to_string(rows) + " rows beside " +
           std::to_string(other_rows) + ", " + std::to_string(classes) + " classes, " +
           to_string(activation) + (has_threshold ? ", threshold" : "") +
           (selects ? ", selected" : "") + (has_ties ? ", ties" : "");
  }
};

template <typename T>
struct LossResult {
  std::vector<T> gradient;
  Totals totals;
};

template <typename T>
std::vector<T> outputs_of(const LossCase& one) {
  std::vector<T> outputs = activated<T>(one.activation, one.rows * one.classes, 1);
  for (T& value : outputs) {
    if (one.has_ties) value = std::round(value * 4) / 4;
    if (one.activation == Activation::none && !one.has_ties) value *= 20;
  }
  return outputs;
}

/// For kernels that select rows, or for others.
template <typename Kernels>
std::vector<std::int32_t> labels_of(const LossCase& one) {
  const Index samples = one.selects ? one.rows + spare_samples : one.rows;
  auto labels = random_labels(samples, std::max<Index>(one.classes, 2), 2);
  if (!one.selects || Kernels::selects_rows) return labels;
  return rows_of(labels, 1, random_order(one.rows, 3));
}

constexpr Totals totals_before = {.loss = 2.5, .correct = 7};

template <typename Kernels, typename T>
LossResult<T> run_loss(Kernels& kernels, const LossCase& one, const std::vector<T>& outputs_values,
                       const Totals& before = totals_before) {
  Executor<T>& executor = kernels.executor();
  DeviceArray outputs(executor, outputs_values);
  DeviceArray labels(executor, labels_of<Kernels>(one));
  DeviceArray order(executor, random_order(one.rows, 3));
  DeviceArray gradient(executor, poison<T>(one.rows * one.classes + 3));
  DeviceArray totals(executor, std::vector<Totals>{before});
  minibatch::LossProblem<T> problem = {.rows = one.rows,
                                       .batch_rows = one.rows + one.other_rows,
                                       .classes = one.classes,
                                       .loss = one.loss,
                                       .has_threshold = one.has_threshold,
                                       .threshold = T{0.25},
                                       .outputs = outputs.get(),
                                       .activation = one.activation,
                                       .labels = labels.get(),
                                       .doutputs = gradient.get()};
  if (one.selects && Kernels::selects_rows) problem.order = order.get();
  kernels.loss(problem, totals.get());
  EXPECT_EQ(bits_of(outputs.read(executor)), bits_of(outputs_values)) << "the outputs were changed";
  return {gradient.read(executor), totals.read(executor).front()};
}

template <typename T>
void expect_loss_as_in_stage_01(Fused<T>& fused, const LossCase& one) {
  const std::vector<T> outputs = outputs_of<T>(one);
  Unfused<T> unfused;
  const LossResult<T> actual = run_loss(fused, one, outputs);
  const LossResult<T> expected = run_loss(unfused, one, outputs);
  const double units = 16 + std::sqrt(static_cast<double>(one.classes));
  expect_within_units(one.name(), units, actual.gradient, expected.gradient);
  EXPECT_EQ(actual.totals.correct, expected.totals.correct) << one.name();
  EXPECT_EQ(actual.totals.first_bad_step, -1) << one.name();
  // Each row's loss is rounded in T, and then added up in double, in another order.
  const double rounding =
      units * static_cast<double>(std::numeric_limits<T>::epsilon()) +
      std::sqrt(static_cast<double>(one.rows)) * std::numeric_limits<double>::epsilon();
  EXPECT_NEAR(actual.totals.loss, expected.totals.loss, rounding * expected.totals.loss)
      << one.name();
  const LossResult<T> again = run_loss(fused, one, outputs);
  EXPECT_EQ(bits_of(again.gradient), bits_of(actual.gradient)) << one.name();
  EXPECT_EQ(again.totals.loss, actual.totals.loss) << one.name();
}

TYPED_TEST(Stage04, LossesAreStage01s) {
  Fused<TypeParam> fused;
  Random random(43);
  const auto coin = [&] { return random.below(2) == 1; };
  for (int i = 0; i < shapes_per_rung(); ++i) {
    LossCase one;
    one.rows = i % 20 == 0 ? 2000 - i : 1 + static_cast<Index>(random.below(i % 2 == 0 ? 20 : 300));
    one.loss = coin() ? LossKind::squared_error : LossKind::cross_entropy;
    one.classes = 1 + static_cast<Index>(random.below(70));
    if (one.loss == LossKind::cross_entropy) one.classes = std::max<Index>(one.classes, 2);
    if (one.loss == LossKind::squared_error && i % 3 == 0) one.classes = 1;
    one.has_threshold = one.classes == 1;
    one.activation = static_cast<Activation>(random.below(3));
    one.selects = coin();
    one.has_ties = coin();
    one.other_rows = i % 4;
    expect_loss_as_in_stage_01(fused, one);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Stage04, LossesOfEveryNumberOfClassesAreStage01s) {
  Fused<TypeParam> fused;
  for (Index classes = 1; classes <= 70; ++classes) {
    if (classes > 1) {
      expect_loss_as_in_stage_01(fused, {.rows = 11, .classes = classes, .has_ties = true});
    }
    expect_loss_as_in_stage_01(fused, {.rows = 9,
                                       .classes = classes,
                                       .loss = LossKind::squared_error,
                                       .has_threshold = classes == 1,
                                       .activation = Activation::sigmoid,
                                       .selects = true});
    if (this->HasFatalFailure()) return;
  }
}

/// A last layer and the loss behind it.
struct LastLayerCase {
  Index rows = 1;
  Index in = 1;
  Index out = 1;
  LossKind loss = LossKind::cross_entropy;
  Activation activation = Activation::none;
  Activation input_activation = Activation::none;
  bool has_bias = true;
  bool wants_dinput = true;
  bool updates = true;
  bool selects = false;
  bool has_nan = false;
  bool has_product = false;  ///< computed by another kernel
  bool weight_is_independent = false;
  Index other_rows = 0;

  std::string name() const {
    return std::to_string(rows) + " x " + std::to_string(in) + " x " + std::to_string(out) + ", " +
           to_string(loss) + (has_bias ? ", bias" : "") + (updates ? ", update" : "") +
           (has_product ? ", product" : "") + (weight_is_independent ? ", early" : "") +
           ", activations " + to_string(input_activation) + " and " + to_string(activation);
  }
};

/// What comes of it.
template <typename T>
struct LastLayerResult {
  Results<T> values;
  Totals totals;
};

template <typename Kernels, typename T>
LastLayerResult<T> run_last_layer(Kernels& kernels, const LastLayerCase& one) {
  Executor<T>& executor = kernels.executor();
  const LossCase loss_case = {.rows = one.rows, .classes = one.out, .selects = one.selects};
  std::vector<T> inputs = activated<T>(one.input_activation, one.rows * one.in, 1);
  if (one.has_nan) inputs.back() = std::numeric_limits<T>::quiet_NaN();
  DeviceArray input(executor, inputs);
  DeviceArray weight(executor, random_values<T>(one.in * one.out, 2));
  DeviceArray bias(executor, random_values<T>(one.out, 3));
  DeviceArray doutput(executor, poison<T>(one.rows * one.out));
  DeviceArray dinput(executor, poison<T>(one.rows * one.in));
  DeviceArray dweight(executor, poison<T>(one.in * one.out));
  DeviceArray dbias(executor, poison<T>(one.out));
  DeviceArray labels(executor, labels_of<Kernels>(loss_case));
  DeviceArray order(executor, random_order(one.rows, 3));
  DeviceArray totals(executor, std::vector<Totals>{totals_before});
  constexpr T rate = static_cast<T>(0.3);
  minibatch::OutputLayerProblem<T> problem = {
      .layer = {.forward = {.rows = one.rows,
                            .in = one.in,
                            .out = one.out,
                            .input = input.get(),
                            .weight = weight.get(),
                            .bias = one.has_bias ? bias.get() : nullptr},
                .doutput = doutput.get(),
                .dinput = one.wants_dinput ? dinput.get() : nullptr,
                .input_activation = one.input_activation,
                .weight = {.gradient = dweight.get()},
                .bias = {.gradient = one.has_bias ? dbias.get() : nullptr}},
      .loss = {.rows = one.rows,
               .batch_rows = one.rows + one.other_rows,
               .classes = one.out,
               .loss = one.loss,
               .has_threshold = one.out == 1,
               .threshold = T{0.25},
               .activation = one.activation,
               .labels = labels.get(),
               .doutputs = doutput.get()}};
  if (one.updates) {
    problem.layer.weight = {dweight.get(), weight.get(), rate, static_cast<T>(0.01)};
    if (one.has_bias) problem.layer.bias = {dbias.get(), bias.get(), rate, T{0}};
  }
  if (one.selects && Kernels::selects_rows) problem.loss.order = order.get();
  DeviceArray product(executor, poison<T>(one.rows * one.out));
  if (one.has_product) {
    LinearProblem<T> layer = problem.layer.forward;
    layer.bias = nullptr;
    layer.output = product.get();
    kernels.linear(layer);
    problem.product = product.get();
  }
  problem.weight_is_independent = one.weight_is_independent;
  kernels.last_layer(problem, totals.get());
  LastLayerResult<T> result = {.values = {{"doutput", doutput.read(executor)},
                                          {"dinput", dinput.read(executor)},
                                          {"weight", weight.read(executor)},
                                          {"bias", bias.read(executor)}},
                               .totals = totals.read(executor).front()};
  if (!one.updates) {  // else they need not be stored
    result.values.push_back({"dweight", dweight.read(executor)});
    result.values.push_back({"dbias", dbias.read(executor)});
  }
  return result;
}

template <typename T>
void expect_last_layer_as_in_stage_01(Fused<T>& fused, const LastLayerCase& one) {
  Unfused<T> unfused;
  const auto actual = run_last_layer<Fused<T>, T>(fused, one);
  const auto expected = run_last_layer<Unfused<T>, T>(unfused, one);
  // The gradients inherit the outputs' rounding: sums of `in` products before an exponential. Those
  // errors, and those of sums over the rows, are as often up as down, so they grow like a root.
  const double units = 32 + 8 * std::sqrt(static_cast<double>(one.in + one.rows));
  expect_same(one.name(), units, actual.values, expected.values, 0);
  if (testing::Test::HasFatalFailure()) return;
  EXPECT_EQ(actual.totals.correct, expected.totals.correct) << one.name();
  EXPECT_EQ(actual.totals.first_bad_step, expected.totals.first_bad_step) << one.name();
  const double rounding = units * static_cast<double>(std::numeric_limits<T>::epsilon());
  EXPECT_NEAR(actual.totals.loss, expected.totals.loss, rounding * expected.totals.loss)
      << one.name();
  const auto again = run_last_layer<Fused<T>, T>(fused, one);
  expect_same_bits(one.name(), again.values, actual.values);
  EXPECT_EQ(again.totals.loss, actual.totals.loss) << one.name();
}

TYPED_TEST(Stage04, LastLayersWithTheirLossAreStage01s) {
  Fused<TypeParam> fused;
  Random random(47);
  const auto coin = [&] { return random.below(2) == 1; };
  for (int i = 0; i < shapes_per_rung(); ++i) {
    LastLayerCase one;
    one.rows = 1 + static_cast<Index>(random.below(i % 10 == 0 ? 600 : 40));
    one.in = 1 + static_cast<Index>(random.below(i % 5 == 0 ? 2000 : 70));
    one.loss = coin() ? LossKind::squared_error : LossKind::cross_entropy;
    one.out = 1 + static_cast<Index>(random.below(32));
    if (one.loss == LossKind::cross_entropy) one.out = std::max<Index>(one.out, 2);
    // Of a relu's outputs, the largest may be several zeros, some of them by rounding only.
    one.activation = coin() ? Activation::none : Activation::sigmoid;
    one.input_activation = static_cast<Activation>(random.below(3));
    one.has_bias = coin();
    one.wants_dinput = coin();
    one.updates = coin();
    one.selects = coin();
    one.has_product = coin();
    one.weight_is_independent = coin();
    one.other_rows = i % 4;
    while (!minibatch::fits_output_layer<TypeParam>(one.in, one.out)) one.in /= 2;
    expect_last_layer_as_in_stage_01<TypeParam>(fused, one);
    if (this->HasFatalFailure()) return;
  }
}

/// The simpler kernel, with more rows than the grid has warps, too.
TYPED_TEST(Stage04, LastLayersByAWarpPerRowAreStage01s) {
  Fused<TypeParam> fused;
  fused.warp_per_row = true;
  const Index at_a_time = Index{64} * cuda::multiprocessors();
  const std::vector<Index> all_rows = {1, 7, 60, at_a_time + 1};
  for (const Index rows : all_rows) {
    for (const Index out : {2, 10, 32}) {
      for (const Index in : {1, 33, 70}) {
        expect_last_layer_as_in_stage_01<TypeParam>(fused, {.rows = rows,
                                                            .in = in,
                                                            .out = out,
                                                            .input_activation = Activation::sigmoid,
                                                            .has_bias = in != 33,
                                                            .wants_dinput = in != 70,
                                                            .updates = false,
                                                            .selects = out == 10});
        if (this->HasFatalFailure()) return;
      }
    }
  }
  expect_last_layer_as_in_stage_01<TypeParam>(fused, {.rows = 29,
                                                      .in = 13,
                                                      .out = 1,
                                                      .loss = LossKind::squared_error,
                                                      .activation = Activation::sigmoid,
                                                      .updates = false});
}

/// Rows shared by one to eight warps, of which the last may have no inputs.
TYPED_TEST(Stage04, LastLayersWhoseRowsAreSharedAreStage01s) {
  Fused<TypeParam> fused;
  for (const Index in : {128, 129, 513, 1'025, 2'049}) {
    if (!minibatch::fits_output_layer<TypeParam>(in, 10)) continue;
    for (const Index rows : {1, 7, 60}) {
      for (const bool has_product : {false, true}) {
        expect_last_layer_as_in_stage_01<TypeParam>(
            fused, {.rows = rows, .in = in, .out = 10, .has_product = has_product});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Stage04, LastLayersOfEveryWidthAreStage01s) {
  Fused<TypeParam> fused;
  for (Index out = 2; out <= 32; ++out) {
    for (const bool has_product : {false, true}) {
      expect_last_layer_as_in_stage_01<TypeParam>(fused, {.rows = 5,
                                                          .in = 37,
                                                          .out = out,
                                                          .input_activation = Activation::relu,
                                                          .has_product = has_product});
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Rows of 1,000 inputs, more than fit into the shared memory of all blocks at once.
TYPED_TEST(Stage04, LastLayersOfMoreRowsThanTheGridTakesAreStage01s) {
  Fused<TypeParam> fused;
  const Index at_a_time = Index{48} * cuda::multiprocessors();
  for (const Index rows : {at_a_time - 1, at_a_time + 1}) {
    for (const bool has_product : {false, true}) {
      expect_last_layer_as_in_stage_01<TypeParam>(
          fused, {.rows = rows, .in = 1'000, .out = 10, .has_product = has_product});
      if (this->HasFatalFailure()) return;
    }
  }
}

/// By the kernel that adds up the shares, too.
TYPED_TEST(Stage04, ALastLayersLossThatIsNoNumberIsToldWithItsStep) {
  Fused<TypeParam> fused;
  for (const bool updates : {false, true}) {
    const LastLayerCase one = {.rows = 29, .in = 13, .out = 5, .updates = updates, .has_nan = true};
    const auto result = run_last_layer<Fused<TypeParam>, TypeParam>(fused, one);
    EXPECT_EQ(result.totals.first_bad_step, 43) << one.name();
    EXPECT_FALSE(std::isfinite(result.totals.loss)) << one.name();
  }
}

TYPED_TEST(Stage04, WideLastLayersAreLeftToProducts) {
  EXPECT_TRUE(minibatch::fits_output_layer<TypeParam>(256, 10));
  EXPECT_TRUE(minibatch::fits_output_layer<TypeParam>(1'000, 10));
  EXPECT_FALSE(minibatch::fits_output_layer<TypeParam>(256, 33));
  EXPECT_FALSE(minibatch::fits_output_layer<TypeParam>(1'000'000, 10));
}

/// A block takes a second row when all blocks that there are have eight rows each.
TYPED_TEST(Stage04, LossesOfMoreRowsThanTheGridHasAreStage01s) {
  Fused<TypeParam> fused;
  const Index full_grid = Index{8} * 8 * cuda::multiprocessors();
  for (const Index rows : {full_grid - 1, full_grid, full_grid + 1, 2 * full_grid + 13}) {
    for (const bool selects : {false, true}) {
      expect_loss_as_in_stage_01(fused, {.rows = rows, .classes = 3, .selects = selects});
    }
  }
}

/// The first output of the largest names the class, wherever the lanes of a warp find it.
TYPED_TEST(Stage04, TheLowestClassWinsTies) {
  Fused<TypeParam> fused;
  constexpr Index classes = 70;
  for (const Index first : {0, 1, 31, 32, 33, 63, 64, 68}) {
    std::vector<TypeParam> outputs(classes, TypeParam{-1});
    for (Index j = first; j < classes; j += 1 + first % 3) {
      outputs[static_cast<std::size_t>(j)] = TypeParam{2};
    }
    for (const Index label : {first, first + 1}) {
      CudaArray y(outputs);
      CudaArray labels(std::vector<std::int32_t>{static_cast<std::int32_t>(label)});
      CudaArray gradient(poison<TypeParam>(classes));
      CudaArray totals(std::vector<Totals>(1));
      fused.loss({.rows = 1,
                  .batch_rows = 1,
                  .classes = classes,
                  .outputs = y.get(),
                  .labels = labels.get(),
                  .doutputs = gradient.get()},
                 totals.get());
      EXPECT_EQ(totals.read().front().correct, label == first ? 1 : 0) << first;
    }
  }
}

TYPED_TEST(Stage04, ALossThatIsNoNumberIsToldWithItsStep) {
  Fused<TypeParam> fused;
  Unfused<TypeParam> unfused;
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (const LossKind loss : {LossKind::cross_entropy, LossKind::squared_error}) {
    for (const Index rows : {1, 13, 500}) {
      for (const TypeParam bad : {nan, infinity}) {
        const LossCase one = {.rows = rows, .classes = 5, .loss = loss};
        std::vector<TypeParam> outputs = outputs_of<TypeParam>(one);
        outputs[static_cast<std::size_t>(rows / 2 * 5 + 2)] = bad;
        const LossResult<TypeParam> actual = run_loss(fused, one, outputs);
        const LossResult<TypeParam> expected = run_loss(unfused, one, outputs);
        EXPECT_EQ(actual.totals.first_bad_step, 43) << one.name();
        EXPECT_FALSE(std::isfinite(actual.totals.loss)) << one.name();
        expect_within_units(one.name(), 20, actual.gradient, expected.gradient);
        // The first one counts.
        const Totals earlier = {.loss = infinity, .correct = 0, .first_bad_step = 4};
        EXPECT_EQ(run_loss(fused, one, outputs, earlier).totals.first_bad_step, 4);
      }
    }
  }
}

}  // namespace
}  // namespace stagewise

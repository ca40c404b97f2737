/// @file
/// Each of stage 04's fused kernels computes what stage 01's primitives compute that it replaces.

#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "01_serial/serial_backend.hpp"
#include "04_minibatch/gather.hpp"
#include "04_minibatch/minibatch_backend.hpp"
#include "04_minibatch/update.hpp"
#include "cross_stage/cuda_array.hpp"
#include "cross_stage/device_array.hpp"
#include "cross_stage/random_shapes.hpp"
#include "cross_stage/stage_types.hpp"
#include "support.hpp"
#include "tensor/random.hpp"
#include "training/worker_step.hpp"

namespace stagewise {
namespace {

template <typename T>
class Stage04 : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  }
};
TYPED_TEST_SUITE(Stage04, Precisions, PrecisionNames);

/// An array in a backend's memory that does not begin where the allocation does: pointers like this
/// are not aligned for vectors. What surrounds it is NaN, and has to stay so.
template <typename T>
class Surrounded {
 public:
  Surrounded(Backend<T>& backend, const std::vector<T>& values, Index shift)
      : backend_(&backend), shift_(shift), array_(backend, with_surroundings(values, shift)) {}

  T* get() { return array_.get() + shift_; }

  /// The values, the surroundings included.
  std::vector<T> read() const { return array_.read(*backend_); }

 private:
  static std::vector<T> with_surroundings(const std::vector<T>& values, Index shift) {
    constexpr Index behind = 5;
    std::vector<T> all = poison<T>(shift + std::ssize(values) + behind);
    std::copy(values.begin(), values.end(), all.begin() + shift);
    return all;
  }

  Backend<T>* backend_;
  Index shift_;
  DeviceArray<T> array_;
};

/// To compare NaNs, too.
template <typename T>
std::vector<std::uint64_t> bits_of(const std::vector<T>& values) {
  std::vector<std::uint64_t> bits;
  for (const T value : values) {
    using Bits = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;
    bits.push_back(std::bit_cast<Bits>(value));
  }
  return bits;
}

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
                 const Results<T>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expect_within_units(what + ", " + expected[i].name, units, actual[i].values, expected[i].values,
                        1);
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

std::string name_of(Activation activation) {
  return activation == Activation::relu      ? "relu"
         : activation == Activation::sigmoid ? "sigmoid"
                                             : "none";
}

// ------------------------------------------------------------------------------- fully connected

/// What becomes of a gradient.
enum class Delivery : std::uint8_t { none, stored, update };

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
    const auto delivery = [](Delivery d) {
      return d == Delivery::none ? "none" : d == Delivery::stored ? "stored" : "update";
    };
    return std::to_string(rows) + " rows, " + std::to_string(in) + " to " + std::to_string(out) +
           ", " + name_of_activations() + (has_bias ? ", bias " : ", no bias ") + delivery(bias) +
           ", weight " + delivery(weight) + ", l2 " + std::to_string(l2) +
           (has_dinput ? ", dinput" : "") + (selects ? ", selected" : "") + ", shift " +
           std::to_string(shift) + " of " + std::to_string(shifted);
  }

 private:
  std::string name_of_activations() const {
    return name_of(activation) + " over " + name_of(input_activation);
  }
};

/// Samples that a batch is picked from; some of them are in none.
constexpr Index spare_samples = 7;

/// The samples of a batch, some of them twice.
std::vector<std::uint32_t> random_order(Index rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(rows));
  for (std::uint32_t& sample : order) {
    sample =
        static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(rows + spare_samples)));
  }
  return order;
}

/// The rows of `data` [.., width] that `order` names.
template <typename T>
std::vector<T> rows_of(const std::vector<T>& data, Index width,
                       const std::vector<std::uint32_t>& order) {
  std::vector<T> rows;
  for (const std::uint32_t sample : order) {
    const auto begin = data.begin() + static_cast<Index>(sample) * width;
    rows.insert(rows.end(), begin, begin + width);
  }
  return rows;
}

/// The forward and the backward pass of a layer on a backend. The backward pass gets an output that
/// was made up: where one is 0 but for rounding, backends may differ about a relu's derivative.
/// @param picks whether the backend picks the rows itself, or gets them picked.
template <typename T>
Results<T> run_layer(Backend<T>& backend, const Layer& layer, bool picks) {
  const Index rows = layer.rows;
  const Index in = layer.in;
  const Index out = layer.out;
  const auto shift = [&](unsigned bit) {
    return (layer.shifted >> bit) % 2 == 1 ? layer.shift : 0;
  };
  const std::vector<std::uint32_t> order = random_order(rows, 9);
  const Index samples = layer.selects ? rows + spare_samples : rows;
  std::vector<T> input_values = activated<T>(layer.input_activation, samples * in, 1);
  // The activation of a data set is nobody's business; that of a batch is the layer's below.
  const std::vector<T> made_up = activated<T>(layer.activation, rows * out, 5);
  if (layer.selects && !picks) input_values = rows_of(input_values, in, order);

  DeviceArray order_array(backend, order);
  Surrounded<T> input(backend, input_values, shift(0));
  Surrounded<T> weight(backend, random_values<T>(in * out, 2, -1, 2), shift(1));
  Surrounded<T> bias(backend, random_values<T>(out, 3), shift(2));
  Surrounded<T> output(backend, poison<T>(rows * out), shift(3));
  Surrounded<T> second_output(backend, made_up, shift(3));
  Surrounded<T> doutput(backend, random_values<T>(rows * out, 4, -2, 1), shift(4));
  Surrounded<T> dinput(backend, poison<T>(rows * in), shift(5));
  Surrounded<T> dweight(backend, poison<T>(in * out), shift(6));
  Surrounded<T> dbias(backend, poison<T>(out), shift(7));

  LinearProblem<T> forward = {.rows = rows,
                              .in = in,
                              .out = out,
                              .input = input.get(),
                              .weight = weight.get(),
                              .bias = layer.has_bias ? bias.get() : nullptr,
                              .activation = layer.activation,
                              .output = output.get()};
  if (layer.selects && picks) forward.selection.order = order_array.get();
  backend.linear(forward);
  forward.output = second_output.get();
  const auto sink = [](Delivery delivery, T* gradient, T* parameter, double rate, double l2) {
    GradientSink<T> result;
    if (delivery != Delivery::none) result.gradient = gradient;
    if (delivery == Delivery::update) {
      result.parameter = parameter;
      result.learning_rate = static_cast<T>(rate);
      result.l2 = static_cast<T>(l2);
    }
    return result;
  };
  backend.linear_backward(
      {.forward = forward,
       .doutput = doutput.get(),
       .dinput = layer.has_dinput ? dinput.get() : nullptr,
       .input_activation = layer.input_activation,
       .weight = sink(layer.weight, dweight.get(), weight.get(), 0.25, layer.l2),
       .bias =
           sink(layer.has_bias ? layer.bias : Delivery::none, dbias.get(), bias.get(), 0.5, 0)});
  Results<T> results = {{"output", output.read()},   {"dinput", dinput.read()},
                        {"weight", weight.read()},   {"bias", bias.read()},
                        {"doutput", doutput.read()}, {"its output", second_output.read()}};
  // A gradient that was used at once need not be stored.
  if (layer.weight != Delivery::update) results.push_back({"dweight", dweight.read()});
  if (layer.bias != Delivery::update) results.push_back({"dbias", dbias.read()});
  return results;
}

/// Runs a layer on stage 04's backend, twice, and on stage 01's.
template <typename T>
void expect_layer_as_in_stage_01(MinibatchBackend<T>& backend, const Layer& layer) {
  const double terms = static_cast<double>(std::max({layer.rows, layer.in, layer.out}));
  SerialBackend<T> serial;
  const Results<T> actual = run_layer<T>(backend, layer, true);
  expect_same(layer.name(), 32 + 4 * std::sqrt(terms), actual, run_layer<T>(serial, layer, false));
  if (testing::Test::HasFatalFailure()) return;
  expect_same_bits(layer.name(), actual, run_layer<T>(backend, layer, true));
}

/// 1, primes, tiles and a little more or less.
Index random_size(Random& random) {
  constexpr std::array sizes = {1,  2,  3,  4,  7,  8,   13,  16,  31,
                                32, 33, 64, 65, 67, 100, 127, 128, 131};
  return sizes.at(random.below(sizes.size()));
}

template <typename Enum>
Enum random_one_of_three(Random& random) {
  return static_cast<Enum>(random.below(3));
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
  layer.activation = random_one_of_three<Activation>(random);
  layer.selects = coin();
  layer.has_bias = coin();
  layer.has_dinput = !layer.selects && coin();
  if (layer.has_dinput) layer.input_activation = random_one_of_three<Activation>(random);
  layer.weight = coin() ? Delivery::update : Delivery::stored;
  layer.bias = coin() ? Delivery::update : Delivery::stored;
  if (coin()) layer.l2 = 0.375;
  layer.shift = 1 + static_cast<Index>(random.below(3));
  layer.shifted = coin() ? 0 : static_cast<unsigned>(random.below(256));
  return layer;
}

TYPED_TEST(Stage04, LayersOfRandomShapesAreStage01s) {
  MinibatchBackend<TypeParam> backend;
  Random random(41);
  for (int i = 0; i < shapes_per_rung(); ++i) {
    expect_layer_as_in_stage_01<TypeParam>(backend, random_layer(random));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Stage04, LayersOfEveryKindAreStage01s) {
  MinibatchBackend<TypeParam> backend;
  Layer layer = {.rows = 37, .in = 20, .out = 28};  // where float and double have vectors
  for (const Index shift : {0, 1}) {
    layer.shift = shift;
    layer.shifted = 255;
    for (const bool selects : {false, true}) {
      layer.selects = selects;
      layer.has_dinput = !selects;
      for (int i = 0; i < 27; ++i) {
        layer.activation = static_cast<Activation>(i % 3);
        layer.weight = static_cast<Delivery>(i / 3 % 3);
        layer.has_bias = i / 9 > 0 && layer.weight != Delivery::none;
        layer.bias = static_cast<Delivery>(i / 9);
        layer.input_activation = layer.has_dinput ? static_cast<Activation>(i / 9) : Activation{};
        layer.l2 = 0.125 * (i % 4);
        expect_layer_as_in_stage_01<TypeParam>(backend, layer);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

/// One row or column and many of the other; a batch that is empty; many tiles in one direction.
TYPED_TEST(Stage04, LayersOfExtremeShapesAreStage01s) {
  MinibatchBackend<TypeParam> backend;
  const std::vector<Layer> shapes = {
      {.rows = 1, .in = 1, .out = 1},    {.rows = 1, .in = 1009, .out = 1},
      {.rows = 1, .in = 1, .out = 1009}, {.rows = 1009, .in = 1, .out = 1},
      {.rows = 3, .in = 2, .out = 300},  {.rows = 300, .in = 2, .out = 3},
      {.rows = 2, .in = 300, .out = 3},  {.rows = 100, .in = 784, .out = 10},
      {.rows = 0, .in = 3, .out = 2},    {.rows = 3, .in = 2, .out = 0}};
  for (Layer layer : shapes) {
    for (const bool selects : {false, true}) {
      for (const Delivery delivery : {Delivery::stored, Delivery::update}) {
        if (layer.rows * layer.out == 0 && selects) continue;  // nothing is fused, nothing is read
        layer.selects = selects;
        layer.has_dinput = !selects;
        layer.activation = Activation::sigmoid;
        layer.weight = delivery;
        layer.bias = delivery;
        layer.l2 = 0.25;
        expect_layer_as_in_stage_01<TypeParam>(backend, layer);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

/// A NaN that a layer is fed with must come out, whatever the activation.
TYPED_TEST(Stage04, LayersPassNaNsOn) {
  MinibatchBackend<TypeParam> backend;
  for (const Activation activation : {Activation::none, Activation::relu, Activation::sigmoid}) {
    std::vector<TypeParam> values = random_values<TypeParam>(5 * 3, 1);
    values[4] = std::numeric_limits<TypeParam>::quiet_NaN();
    DeviceArray input(backend, values);
    DeviceArray weight(backend, random_values<TypeParam>(3 * 2, 2));
    DeviceArray output(backend, std::vector<TypeParam>(5 * 2, TypeParam{0}));
    backend.linear({.rows = 5,
                    .in = 3,
                    .out = 2,
                    .input = input.get(),
                    .weight = weight.get(),
                    .activation = activation,
                    .output = output.get()});
    const std::vector<TypeParam> result = output.read(backend);
    for (std::size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ(std::isnan(result[i]), i / 2 == 1) << name_of(activation) << ", element " << i;
    }
  }
}

// -------------------------------------------------------------------------------------- the loss

/// The end of a network and how it is asked for.
struct LossCase {
  Index rows = 1;
  Index classes = 2;
  minibatch::LossForm form = minibatch::LossForm::softmax_cross_entropy;
  bool is_cut = false;
  Activation activation = Activation::none;
  bool selects = false;
  bool has_ties = false;

  std::string name() const {
    return std::string(form == minibatch::LossForm::squared_error ? "squared error"
                                                                  : "cross-entropy") +
           " of " + std::to_string(rows) + " rows, " + std::to_string(classes) + " classes, " +
           name_of(activation) + (is_cut ? ", cut" : "") + (selects ? ", selected" : "") +
           (has_ties ? ", ties" : "");
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

std::vector<std::int32_t> all_labels_of(const LossCase& one) {
  const Index samples = one.selects ? one.rows + spare_samples : one.rows;
  return random_labels(samples, std::max<Index>(one.classes, 2), 2);
}

constexpr Totals totals_before = {.loss = 2.5, .correct = 7};

/// By stage 04's kernel, as step number 43.
template <typename T>
LossResult<T> run_fused(MinibatchBackend<T>& backend, const LossCase& one,
                        const std::vector<T>& outputs_values, const Totals& before) {
  DeviceArray outputs(backend, outputs_values);
  DeviceArray labels(backend, all_labels_of(one));
  DeviceArray order(backend, random_order(one.rows, 3));
  DeviceArray gradient(backend, poison<T>(one.rows * one.classes + 3));
  DeviceArray totals(backend, std::vector<Totals>{before});
  DeviceArray steps(backend, std::vector<std::int64_t>{40});
  minibatch::LossProblem<T> problem = {.rows = one.rows,
                                       .classes = one.classes,
                                       .form = one.form,
                                       .is_cut = one.is_cut,
                                       .cut = T{0.25},
                                       .outputs = outputs.get(),
                                       .activation = one.activation,
                                       .labels = labels.get(),
                                       .doutputs = gradient.get()};
  if (one.selects) problem.selection.order = order.get();
  backend.loss(problem, {.totals = totals.get(), .steps_before = steps.get(), .step = 3});
  EXPECT_EQ(bits_of(outputs.read(backend)), bits_of(outputs_values)) << "the outputs were changed";
  return {gradient.read(backend), totals.read(backend).front()};
}

/// By stage 01's primitives.
template <typename T>
LossResult<T> run_unfused(const LossCase& one, const std::vector<T>& outputs_values,
                          const Totals& before) {
  SerialBackend<T> backend;
  std::vector<T> outputs = outputs_values;
  std::vector<std::int32_t> labels = all_labels_of(one);
  if (one.selects) labels = rows_of(labels, 1, random_order(one.rows, 3));
  const auto rows = static_cast<std::size_t>(one.rows);
  std::vector<T> losses(rows);
  std::vector<std::int32_t> predictions(rows);
  std::vector<T> gradient = poison<T>(one.rows * one.classes + 3);
  if (one.form == minibatch::LossForm::squared_error) {
    backend.squared_error(one.rows, one.classes, outputs.data(), labels.data(), losses.data());
    backend.squared_error_backward(one.rows, one.classes, outputs.data(), labels.data(),
                                   gradient.data());
  } else {
    std::vector<T> probabilities(outputs.size());
    backend.softmax_cross_entropy(one.rows, one.classes, outputs.data(), labels.data(),
                                  probabilities.data(), losses.data());
    backend.softmax_cross_entropy_backward(one.rows, one.classes, probabilities.data(),
                                           labels.data(), gradient.data());
  }
  const Index n = one.rows * one.classes;
  if (one.activation == Activation::relu) {
    backend.relu_backward(n, outputs.data(), gradient.data(), gradient.data());
  } else if (one.activation == Activation::sigmoid) {
    backend.sigmoid_backward(n, outputs.data(), gradient.data(), gradient.data());
  }
  if (one.is_cut) {
    backend.threshold(one.rows, T{0.25}, outputs.data(), predictions.data());
  } else {
    backend.argmax(one.rows, one.classes, outputs.data(), predictions.data());
  }
  Totals totals = before;
  backend.accumulate(one.rows, losses.data(), predictions.data(), labels.data(), 43, &totals);
  return {gradient, totals};
}

template <typename T>
void expect_loss_as_in_stage_01(MinibatchBackend<T>& backend, const LossCase& one) {
  const std::vector<T> outputs = outputs_of<T>(one);
  const LossResult<T> actual = run_fused(backend, one, outputs, totals_before);
  const LossResult<T> expected = run_unfused(one, outputs, totals_before);
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
  const LossResult<T> again = run_fused(backend, one, outputs, totals_before);
  EXPECT_EQ(bits_of(again.gradient), bits_of(actual.gradient)) << one.name();
  EXPECT_EQ(again.totals.loss, actual.totals.loss) << one.name();
}

TYPED_TEST(Stage04, LossesAreStage01s) {
  using minibatch::LossForm;
  MinibatchBackend<TypeParam> backend;
  Random random(43);
  const auto coin = [&] { return random.below(2) == 1; };
  for (int i = 0; i < shapes_per_rung(); ++i) {
    LossCase one;
    one.rows = i % 20 == 0 ? 2000 - i : 1 + static_cast<Index>(random.below(i % 2 == 0 ? 20 : 300));
    one.form = coin() ? LossForm::squared_error : LossForm::softmax_cross_entropy;
    one.classes = 1 + static_cast<Index>(random.below(70));
    if (one.form == LossForm::softmax_cross_entropy) one.classes = std::max<Index>(one.classes, 2);
    if (one.form == LossForm::squared_error && i % 3 == 0) one.classes = 1;
    one.is_cut = one.classes == 1;
    one.activation = static_cast<Activation>(random.below(3));
    one.selects = coin();
    one.has_ties = coin();
    expect_loss_as_in_stage_01(backend, one);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Stage04, LossesOfEveryNumberOfClassesAreStage01s) {
  MinibatchBackend<TypeParam> backend;
  for (Index classes = 1; classes <= 70; ++classes) {
    if (classes > 1) {
      expect_loss_as_in_stage_01(backend, {.rows = 11, .classes = classes, .has_ties = true});
    }
    expect_loss_as_in_stage_01(backend, {.rows = 9,
                                         .classes = classes,
                                         .form = minibatch::LossForm::squared_error,
                                         .is_cut = classes == 1,
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
  minibatch::LossForm form = minibatch::LossForm::softmax_cross_entropy;
  Activation activation = Activation::none;
  Activation input_activation = Activation::none;
  bool has_bias = true;
  bool wants_dinput = true;
  bool updates = true;
  bool selects = false;

  std::string name() const {
    return std::to_string(rows) + " x " + std::to_string(in) + " x " + std::to_string(out) +
           (form == minibatch::LossForm::squared_error ? ", squared error" : "") +
           (has_bias ? ", bias" : "") + (updates ? ", update" : "") + ", activations " +
           std::to_string(static_cast<int>(input_activation)) + " and " +
           std::to_string(static_cast<int>(activation));
  }
};

/// What comes of it: parameters, where they are updated, or else their gradients.
template <typename T>
struct LastLayerResult {
  std::vector<T> doutput;
  std::vector<T> dinput;
  std::vector<T> weight;
  std::vector<T> bias;
  Totals totals;
};

template <typename T>
LastLayerResult<T> run_last_layer(Backend<T>& backend, MinibatchBackend<T>* fused,
                                  const LastLayerCase& one) {
  LossCase loss_case = {.rows = one.rows, .classes = one.out, .selects = one.selects};
  DeviceArray input(backend, activated<T>(one.input_activation, one.rows * one.in, 1));
  DeviceArray weight(backend, random_values<T>(one.in * one.out, 2));
  DeviceArray bias(backend, random_values<T>(one.out, 3));
  DeviceArray output(backend, poison<T>(one.rows * one.out));
  DeviceArray doutput(backend, poison<T>(one.rows * one.out));
  DeviceArray dinput(backend, poison<T>(one.rows * one.in));
  DeviceArray dweight(backend, poison<T>(one.in * one.out));
  DeviceArray dbias(backend, poison<T>(one.out));
  std::vector<std::int32_t> label_values = all_labels_of(loss_case);
  const std::vector<std::uint32_t> order_values = random_order(one.rows, 3);
  if (fused == nullptr && one.selects) label_values = rows_of(label_values, 1, order_values);
  DeviceArray labels(backend, label_values);
  DeviceArray order(backend, order_values);
  DeviceArray totals(backend, std::vector<Totals>{totals_before});
  DeviceArray steps(backend, std::vector<std::int64_t>{40});
  constexpr T rate = static_cast<T>(0.3);
  LinearBackwardProblem<T> layer = {.forward = {.rows = one.rows,
                                                .in = one.in,
                                                .out = one.out,
                                                .input = input.get(),
                                                .weight = weight.get(),
                                                .bias = one.has_bias ? bias.get() : nullptr,
                                                .output = output.get()},
                                    .doutput = doutput.get(),
                                    .dinput = one.wants_dinput ? dinput.get() : nullptr,
                                    .input_activation = one.input_activation,
                                    .weight = {.gradient = dweight.get()},
                                    .bias = {.gradient = one.has_bias ? dbias.get() : nullptr}};
  if (one.updates) {
    layer.weight = {dweight.get(), weight.get(), rate, static_cast<T>(0.01)};
    if (one.has_bias) layer.bias = {dbias.get(), bias.get(), rate, T{0}};
  }
  if (fused != nullptr) {
    minibatch::OutputLayerProblem<T> problem = {.layer = layer,
                                                .loss = {.rows = one.rows,
                                                         .classes = one.out,
                                                         .form = one.form,
                                                         .is_cut = one.out == 1,
                                                         .cut = T{0.25},
                                                         .activation = one.activation,
                                                         .labels = labels.get(),
                                                         .doutputs = doutput.get()}};
    if (one.selects) problem.loss.selection.order = order.get();
    EXPECT_TRUE(fused->fuses_output_layer(problem)) << one.name();
    fused->fork();
    fused->output_layer(problem, {.totals = totals.get(), .steps_before = steps.get(), .step = 3});
    fused->join();
  } else {
    layer.forward.activation = one.activation;
    backend.linear(layer.forward);
    DeviceArray losses(backend, poison<T>(one.rows));
    DeviceArray predictions(backend, std::vector<std::int32_t>(static_cast<std::size_t>(one.rows)));
    if (one.form == minibatch::LossForm::squared_error) {
      backend.squared_error(one.rows, one.out, output.get(), labels.get(), losses.get());
      backend.squared_error_backward(one.rows, one.out, output.get(), labels.get(), doutput.get());
    } else {
      DeviceArray probabilities(backend, poison<T>(one.rows * one.out));
      backend.softmax_cross_entropy(one.rows, one.out, output.get(), labels.get(),
                                    probabilities.get(), losses.get());
      backend.softmax_cross_entropy_backward(one.rows, one.out, probabilities.get(), labels.get(),
                                             doutput.get());
    }
    if (one.out == 1) {
      backend.threshold(one.rows, T{0.25}, output.get(), predictions.get());
    } else {
      backend.argmax(one.rows, one.out, output.get(), predictions.get());
    }
    backend.accumulate(one.rows, losses.get(), predictions.get(), labels.get(), 43, totals.get());
    backend.linear_backward(layer);
  }
  LastLayerResult<T> result = {.doutput = doutput.read(backend),
                               .dinput = {},
                               .weight = (one.updates ? weight : dweight).read(backend),
                               .bias = {},
                               .totals = totals.read(backend).front()};
  if (one.wants_dinput) result.dinput = dinput.read(backend);
  if (one.has_bias) result.bias = (one.updates ? bias : dbias).read(backend);
  return result;
}

template <typename T>
void expect_last_layer_as_in_stage_01(const LastLayerCase& one) {
  MinibatchBackend<T> backend;
  SerialBackend<T> serial;
  const LastLayerResult<T> actual = run_last_layer<T>(backend, &backend, one);
  const LastLayerResult<T> expected = run_last_layer<T>(serial, nullptr, one);
  // The gradients inherit the outputs' rounding: sums of `in` products before an exponential. Those
  // errors, and those of sums over the rows, are as often up as down, so they grow like a root.
  const double units = 32 + 8 * std::sqrt(static_cast<double>(one.in + one.rows));
  expect_within_units(one.name() + ", doutput", units, actual.doutput, expected.doutput);
  expect_within_units(one.name() + ", dinput", units, actual.dinput, expected.dinput);
  expect_within_units(one.name() + ", weight", units, actual.weight, expected.weight);
  expect_within_units(one.name() + ", bias", units, actual.bias, expected.bias);
  EXPECT_EQ(actual.totals.correct, expected.totals.correct) << one.name();
  EXPECT_EQ(actual.totals.first_bad_step, expected.totals.first_bad_step) << one.name();
  const double rounding = units * static_cast<double>(std::numeric_limits<T>::epsilon());
  EXPECT_NEAR(actual.totals.loss, expected.totals.loss, rounding * expected.totals.loss)
      << one.name();
  const LastLayerResult<T> again = run_last_layer<T>(backend, &backend, one);
  EXPECT_EQ(bits_of(again.weight), bits_of(actual.weight)) << one.name();
  EXPECT_EQ(bits_of(again.dinput), bits_of(actual.dinput)) << one.name();
  EXPECT_EQ(again.totals.loss, actual.totals.loss) << one.name();
}

TYPED_TEST(Stage04, LastLayersWithTheirLossAreStage01s) {
  using minibatch::LossForm;
  Random random(47);
  const auto coin = [&] { return random.below(2) == 1; };
  for (int i = 0; i < shapes_per_rung(); ++i) {
    LastLayerCase one;
    one.rows = 1 + static_cast<Index>(random.below(i % 10 == 0 ? 600 : 40));
    one.in = 1 + static_cast<Index>(random.below(i % 5 == 0 ? 600 : 70));
    one.form = coin() ? LossForm::squared_error : LossForm::softmax_cross_entropy;
    one.out = 1 + static_cast<Index>(random.below(32));
    if (one.form == LossForm::softmax_cross_entropy) one.out = std::max<Index>(one.out, 2);
    // Of a relu's outputs, the largest may be several zeros, some of them by rounding only.
    one.activation = coin() ? Activation::none : Activation::sigmoid;
    one.input_activation = static_cast<Activation>(random.below(3));
    one.has_bias = coin();
    one.wants_dinput = coin();
    one.updates = coin();
    one.selects = coin();
    expect_last_layer_as_in_stage_01<TypeParam>(one);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Stage04, LastLayersOfEveryWidthAreStage01s) {
  for (Index out = 2; out <= 32; ++out) {
    expect_last_layer_as_in_stage_01<TypeParam>(
        {.rows = 5, .in = 37, .out = out, .input_activation = Activation::relu});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Stage04, WideLastLayersAreLeftToProducts) {
  const MinibatchBackend<TypeParam> backend;
  const auto is_fused = [&](Index in, Index out) {
    minibatch::OutputLayerProblem<TypeParam> problem;
    problem.layer.forward = {.rows = 10, .in = in, .out = out};
    return backend.fuses_output_layer(problem);
  };
  EXPECT_TRUE(is_fused(256, 10));
  EXPECT_FALSE(is_fused(256, 33));
  EXPECT_FALSE(is_fused(1'000'000, 10));
}

/// A block takes a second row when all blocks that there are have eight rows each.
TYPED_TEST(Stage04, LossesOfMoreRowsThanTheGridHasAreStage01s) {
  MinibatchBackend<TypeParam> backend;
  const Index full_grid = Index{8} * 8 * cuda::multiprocessors();
  for (const Index rows : {full_grid - 1, full_grid, full_grid + 1, 2 * full_grid + 13}) {
    for (const bool selects : {false, true}) {
      expect_loss_as_in_stage_01(backend, {.rows = rows, .classes = 3, .selects = selects});
    }
  }
}

/// The first output of the largest names the class, wherever the lanes of a warp find it.
TYPED_TEST(Stage04, TheLowestClassWinsTies) {
  MinibatchBackend<TypeParam> backend;
  constexpr Index classes = 70;
  for (const Index first : {0, 1, 31, 32, 33, 63, 64, 68}) {
    std::vector<TypeParam> outputs(classes, TypeParam{-1});
    for (Index j = first; j < classes; j += 1 + first % 3) {
      outputs[static_cast<std::size_t>(j)] = TypeParam{2};
    }
    for (const Index label : {first, first + 1}) {
      DeviceArray y(backend, outputs);
      DeviceArray labels(backend, std::vector<std::int32_t>{static_cast<std::int32_t>(label)});
      DeviceArray gradient(backend, poison<TypeParam>(classes));
      DeviceArray totals(backend, std::vector<Totals>(1));
      DeviceArray steps(backend, std::vector<std::int64_t>{0});
      backend.loss({.rows = 1,
                    .classes = classes,
                    .outputs = y.get(),
                    .labels = labels.get(),
                    .doutputs = gradient.get()},
                   {.totals = totals.get(), .steps_before = steps.get(), .step = 1});
      EXPECT_EQ(totals.read(backend).front().correct, label == first ? 1 : 0) << first;
    }
  }
}

TYPED_TEST(Stage04, ALossThatIsNoNumberIsToldWithItsStep) {
  using minibatch::LossForm;
  MinibatchBackend<TypeParam> backend;
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (const LossForm form : {LossForm::softmax_cross_entropy, LossForm::squared_error}) {
    for (const Index rows : {1, 13, 500}) {
      for (const TypeParam bad : {nan, infinity}) {
        const LossCase one = {.rows = rows, .classes = 5, .form = form};
        std::vector<TypeParam> outputs = outputs_of<TypeParam>(one);
        outputs[static_cast<std::size_t>(rows / 2 * 5 + 2)] = bad;
        const LossResult<TypeParam> actual = run_fused(backend, one, outputs, totals_before);
        const LossResult<TypeParam> expected = run_unfused(one, outputs, totals_before);
        EXPECT_EQ(actual.totals.first_bad_step, 43) << one.name();
        EXPECT_FALSE(std::isfinite(actual.totals.loss)) << one.name();
        expect_within_units(one.name(), 20, actual.gradient, expected.gradient);
        // The first one counts.
        const Totals earlier = {.loss = infinity, .correct = 0, .first_bad_step = 4};
        EXPECT_EQ(run_fused(backend, one, outputs, earlier).totals.first_bad_step, 4);
      }
    }
  }
}

// ------------------------------------------------------------------------------------- the batch

TYPED_TEST(Stage04, GathersTheRowsThatTheOrderNames) {
  using T = TypeParam;
  struct Batch {
    Index rows;
    Index features;
  };
  for (const auto [rows, features] :
       {Batch{1, 1}, Batch{7, 3}, Batch{5, 4}, Batch{33, 8}, Batch{13, 17}, Batch{300, 12},
        Batch{3, 1024}, Batch{2, 3073}, Batch{1000, 2}}) {
    for (const Index shift : {0, 1, 2}) {
      const std::vector<std::uint32_t> order = random_order(rows, 5);
      const auto data = random_values<T>((rows + spare_samples) * features, 1);
      const auto labels = random_labels(rows + spare_samples, 9, 2);
      std::vector<T> shifted = poison<T>(shift);
      shifted.insert(shifted.end(), data.begin(), data.end());
      CudaArray<T> from_array(shifted);
      CudaArray<std::int32_t> labels_array(labels);
      CudaArray<std::uint32_t> order_array(order);
      CudaArray<T> batch(poison<T>(rows * features + shift + 3));
      CudaArray<std::int32_t> batch_labels(
          std::vector<std::int32_t>(static_cast<std::size_t>(rows + 1), -7));
      minibatch::gather<T>(nullptr, from_array.get() + shift, labels_array.get(), features,
                           order_array.get(), rows, batch.get() + shift, batch_labels.get());
      std::vector<T> expected = poison<T>(shift);
      const std::vector<T> picked = rows_of(data, features, order);
      expected.insert(expected.end(), picked.begin(), picked.end());
      expected.resize(expected.size() + 3, std::numeric_limits<T>::quiet_NaN());
      std::vector<std::int32_t> expected_labels = rows_of(labels, 1, order);
      expected_labels.push_back(-7);
      EXPECT_EQ(bits_of(batch.read()), bits_of(expected)) << rows << "x" << features;
      EXPECT_EQ(batch_labels.read(), expected_labels) << rows << "x" << features;
    }
  }
}

/// An epoch of 5,000 samples, in chunks of different sizes.
TEST(TakeChunk, GoesThroughTheOrderOnce) {
  if (const std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  struct Chunk {
    Index steps;
    Index rows;
  };
  const std::vector<std::uint32_t> order = random_order(5000, 6);
  CudaArray<std::uint32_t> order_array(order);
  CudaArray<minibatch::Cursor> cursor(std::vector<minibatch::Cursor>(1));
  Tensor<std::int64_t> progress({1}, cuda::pinned_memory());
  *progress.data() = -1;
  Index first = 0;
  std::int64_t step = 0;
  for (const auto [steps, rows] :
       {Chunk{1, 1}, Chunk{4, 100}, Chunk{1, 2000}, Chunk{32, 33}, Chunk{8, 128}, Chunk{1, 7}}) {
    const Index samples = steps * rows;
    CudaArray<std::uint32_t> chunk(
        std::vector<std::uint32_t>(static_cast<std::size_t>(samples + 1), 77'777));
    minibatch::take_chunk(nullptr, order_array.get(), cursor.get(), steps, rows, chunk.get(),
                          progress.data());
    std::vector<std::uint32_t> expected(order.begin() + first, order.begin() + first + samples);
    expected.push_back(77'777);
    EXPECT_EQ(chunk.read(), expected) << steps << " steps of " << rows;
    const minibatch::Cursor now = cursor.read().front();
    EXPECT_EQ(*progress.data(), step) << "those that are done, not those that begin";
    EXPECT_EQ(now.chunk_step, step);
    first += samples;
    step += steps;
    EXPECT_EQ(now.first, first);
    EXPECT_EQ(now.step, step);
  }
  // Without samples, and with nobody who wants to know: batches that come from elsewhere.
  minibatch::take_chunk(nullptr, nullptr, cursor.get(), 1, 0, nullptr, nullptr);
  const minibatch::Cursor now = cursor.read().front();
  EXPECT_EQ(now.first, first);
  EXPECT_EQ(now.step, step + 1);
  EXPECT_EQ(now.chunk_step, step);
}

// ----------------------------------------------------------------------------- means of workers

/// Parameters of a network and of workers, and the lists of them that the kernels take.
template <typename T>
class WorkersLists {
 public:
  /// @param workers_with_rows only these have gradients.
  WorkersLists(int workers, int workers_with_rows) : workers_(workers) {
    std::vector<minibatch::MeanParameter<T>> mean;
    std::vector<minibatch::WorkersPart<T>> parts;
    Index blocks = 0;
    std::uint64_t seed = 0;
    for (const Index elements : lengths) {
      values_.emplace_back(start_of(elements, ++seed));
      mean.push_back({.value = values_.back().get(),
                      .elements = elements,
                      .first_block = blocks,
                      .l2 = l2_of(mean.size())});
      blocks += minibatch::blocks_for(elements);
      for (int worker = 0; worker < workers; ++worker) {
        parts_.emplace_back(start_of(elements, ++seed));
        gradients_.emplace_back(worker < workers_with_rows ? start_of(elements, ++seed)
                                                           : poison<T>(elements));
        parts.push_back({.value = parts_.back().get(), .gradient = gradients_.back().get()});
      }
    }
    mean_ = std::make_unique<CudaArray<minibatch::MeanParameter<T>>>(mean);
    list_ = std::make_unique<CudaArray<minibatch::WorkersPart<T>>>(parts);
    lists_ = {.workers = workers,
              .parameters = static_cast<int>(mean.size()),
              .blocks = blocks,
              .mean = mean_->get(),
              .parts = list_->get()};
  }

  const minibatch::WorkersParameters<T>& lists() const { return lists_; }

  /// Parameters of one thread, one block and several.
  static constexpr std::array<Index, 5> lengths = {1, 256, 257, 1009, 31};
  static T l2_of(std::size_t parameter) { return parameter % 2 == 0 ? T{0.25} : T{0}; }

  std::vector<T> value(std::size_t parameter) const { return values_[parameter].read(); }
  std::vector<T> part(std::size_t parameter, int worker) const {
    return parts_[number(parameter, worker)].read();
  }
  std::vector<T> gradient(std::size_t parameter, int worker) const {
    return gradients_[number(parameter, worker)].read();
  }

 private:
  static std::vector<T> start_of(Index elements, std::uint64_t seed) {
    return random_values<T>(elements, seed, -1, 2);
  }
  std::size_t number(std::size_t parameter, int worker) const {
    return parameter * static_cast<std::size_t>(workers_) + static_cast<std::size_t>(worker);
  }

  int workers_;
  std::vector<CudaArray<T>> values_;
  std::vector<CudaArray<T>> parts_;
  std::vector<CudaArray<T>> gradients_;
  std::unique_ptr<CudaArray<minibatch::MeanParameter<T>>> mean_;
  std::unique_ptr<CudaArray<minibatch::WorkersPart<T>>> list_;
  minibatch::WorkersParameters<T> lists_;
};

TYPED_TEST(Stage04, UpdatesByTheMeanOfTheWorkersGradients) {
  using T = TypeParam;
  for (const int workers : {1, 2, 3, 8}) {
    for (const Index rows : {1, 2, 5, 8, 100}) {
      const int with_rows = static_cast<int>(std::min<Index>(workers, rows));
      const WorkersLists<T> before(workers, with_rows);
      const WorkersLists<T> after(workers, with_rows);
      const WorkersLists<T> again(workers, with_rows);
      minibatch::update_by_mean_gradient(nullptr, after.lists(), rows, T{0.5});
      minibatch::update_by_mean_gradient(nullptr, again.lists(), rows, T{0.5});
      for (std::size_t k = 0; k < WorkersLists<T>::lengths.size(); ++k) {
        std::vector<long double> expected = widened(before.value(k));
        std::vector<long double> mean(expected.size(), 0);
        for (int worker = 0; worker < with_rows; ++worker) {
          const auto share = static_cast<long double>(shard_of(rows, workers, worker).rows) /
                             static_cast<long double>(rows);
          const std::vector<T> gradient = before.gradient(k, worker);
          for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += share * gradient[i];
        }
        for (std::size_t i = 0; i < mean.size(); ++i) {
          const long double l2 = WorkersLists<T>::l2_of(k);
          expected[i] -= 0.5L * (mean[i] + l2 * expected[i]);
        }
        const std::vector<long double> bounds(expected.size(),
                                              16.0L * std::numeric_limits<T>::epsilon());
        SCOPED_TRACE(std::to_string(workers) + " workers, " + std::to_string(rows) +
                     " rows, parameter " + std::to_string(k));
        expect_within(after.value(k), expected, bounds);
        EXPECT_EQ(again.value(k), after.value(k));
        for (int worker = 0; worker < workers; ++worker) {
          EXPECT_EQ(after.part(k, worker), before.part(k, worker)) << "a worker's own was changed";
        }
      }
    }
  }
}

/// As the serial reference takes it: summed in double, worker 0 first, so the same to the last bit.
TYPED_TEST(Stage04, AveragesTheWorkersWeights) {
  using T = TypeParam;
  for (const int workers : {1, 2, 3, 8}) {
    for (const bool workers_too : {false, true}) {
      const WorkersLists<T> before(workers, 0);
      const WorkersLists<T> after(workers, 0);
      minibatch::average_weights(nullptr, after.lists(), workers_too);
      for (std::size_t k = 0; k < WorkersLists<T>::lengths.size(); ++k) {
        std::vector<T> expected(before.value(k).size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          double sum = 0;
          for (int worker = 0; worker < workers; ++worker) sum += before.part(k, worker)[i];
          expected[i] = static_cast<T>(sum / workers);
        }
        SCOPED_TRACE(std::to_string(workers) + " workers, parameter " + std::to_string(k));
        EXPECT_EQ(after.value(k), expected);
        for (int worker = 0; worker < workers; ++worker) {
          EXPECT_EQ(after.part(k, worker), workers_too ? expected : before.part(k, worker));
        }
      }
    }
  }
}

}  // namespace
}  // namespace stagewise
